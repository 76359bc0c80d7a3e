package io.understudy.mirror.kafka;

import com.google.protobuf.ByteString;
import io.understudy.feed.kafka.MalformedRecordException;
import io.understudy.feed.kafka.RecordFormat;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.KeyRange;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * What the state topic tells: for each key whose last record is a put, the revision of that put. Keys only; values are
 * not held.
 */
final class LastRecords {

    private final NavigableMap<ByteString, Long> revisions = new TreeMap<>(KeyRange.KEY_ORDER);
    private final String topic;
    private final int maxKeys;

    private LastRecords(String topic, int maxKeys) {
        this.topic = topic;
        this.maxKeys = maxKeys;
    }

    /**
     * Reads the topic to the end it has now.
     *
     * @throws SinkException.Refused it has more keys than may be held, or a record that no mirror wrote
     */
    static LastRecords read(TopicReader reader, KafkaSinkOptions options) {
        LastRecords last = new LastRecords(options.stateTopic(), options.maxMergeKeys());
        var unused = reader.read(new TopicPartition(options.stateTopic(), 0), 0, last::add);
        return last;
    }

    int size() {
        return revisions.size();
    }

    /** Whether the topic's last record of {@code key} is the put at {@code revision}; the key is then forgotten. */
    boolean takeIf(ByteString key, long revision) {
        Long last = revisions.remove(key);
        return last != null && last == revision;
    }

    /** The keys left in {@code range}, which are then forgotten. */
    List<ByteString> takeRest(KeyRange range) {
        ByteString to = range.to();
        NavigableMap<ByteString, Long> part =
                to == null ? revisions.tailMap(range.from(), true) : revisions.subMap(range.from(), true, to, false);
        List<ByteString> rest = List.copyOf(part.keySet());
        part.clear();
        return rest;
    }

    private void add(ConsumerRecord<byte[], byte[]> record) {
        TopicRecord told;
        try {
            told = RecordFormat.read(record);
        } catch (MalformedRecordException e) {
            throw new SinkException.Refused(String.valueOf(e.getMessage()), e);
        }
        if (told instanceof TopicRecord.Found found) {
            put(found.entry().key(), found.entry().modRevision().value());
        } else if (told instanceof TopicRecord.Gone gone) {
            revisions.remove(gone.key());
        } else if (told instanceof TopicRecord.Changed changed) {
            if (changed.change() instanceof Change.Put) {
                put(changed.change().key(), changed.revision().value());
            } else {
                revisions.remove(changed.change().key());
            }
        }
    }

    private void put(ByteString key, long revision) {
        revisions.put(key, revision);
        if (revisions.size() > maxKeys) {
            throw new SinkException.Refused("topic " + topic + " holds more than " + maxKeys
                    + " keys, the limit of maxMergeKeys: a snapshot can't be merged");
        }
    }
}
