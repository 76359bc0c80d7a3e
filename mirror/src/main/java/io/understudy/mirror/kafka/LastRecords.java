package io.understudy.mirror.kafka;

import com.google.protobuf.ByteString;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.KeyRange;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * The state a topic tells: for each key whose last record is a put, the revision of that put. Keys only; values are
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
    static LastRecords read(KafkaClients clients, KafkaSinkOptions options) {
        LastRecords last = new LastRecords(options.topic(), options.maxMergeKeys());
        clients.readAll(options.topic(), last::add);
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
        if (record.key() == null) {
            throw refused(record, "it has no key");
        }
        ByteString key = ByteString.copyFrom(record.key());
        if (record.value() == null) {
            revisions.remove(key);
            return;
        }
        try {
            revisions.put(key, RecordFormat.revision(record.headers()));
        } catch (IllegalArgumentException e) {
            throw refused(record, String.valueOf(e.getMessage()));
        }
        if (revisions.size() > maxKeys) {
            throw new SinkException.Refused("topic " + topic + " holds more than " + maxKeys
                    + " keys, the limit of maxMergeKeys: a snapshot can't be merged");
        }
    }

    private SinkException refused(ConsumerRecord<byte[], byte[]> record, String why) {
        return new SinkException.Refused(
                "topic " + topic + " holds at offset " + record.offset() + " a record that no mirror wrote: " + why);
    }
}
