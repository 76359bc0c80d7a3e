package io.understudy.mirror.kafka;

import com.google.protobuf.ByteString;
import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.consumer.format.MirrorRecord;
import io.understudy.consumer.format.StateDigest;
import io.understudy.feed.kafka.RecordFormat;
import io.understudy.feed.kafka.TopicRecord;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Digests of the state topic's entries, by key with a put as last record. A revision alone does not suffice: another
 * history of the source may have another entry at it. Values are not held. Readers ignore entries of an earlier
 * generation, so these have a key but no digest.
 */
final class LastRecords {

    private final NavigableMap<ByteString, @Nullable Long> digests = new TreeMap<>(KeyRange.KEY_ORDER);
    private final String topic;
    private final int maxKeys;
    private final String format;
    private final long generation;
    private @Nullable ClusterId cluster;
    private Revision newest = Revision.ZERO;
    private long end;

    private LastRecords(KafkaSinkOptions options, long generation) {
        this.topic = options.stateTopic();
        this.maxKeys = options.maxMergeKeys();
        this.format = options.format().number();
        this.generation = generation;
    }

    /**
     * Reads the topic to its current end.
     *
     * @param generation of the mirror's records
     * @param atLeast offset that the end must reach
     * @throws SinkException.Refused the topic has more keys than allowed, or a record of another format
     */
    static LastRecords read(TopicReader reader, KafkaSinkOptions options, long generation, long atLeast) {
        LastRecords last = new LastRecords(options, generation);
        last.end = reader.read(new TopicPartition(options.stateTopic(), 0), 0, atLeast, last::add)
                .end();
        return last;
    }

    /** Offset up to which the topic was read. */
    long end() {
        return end;
    }

    /** Returns the digest of the remaining keys that readers count. */
    StateDigest digest() {
        StateDigest digest = StateDigest.EMPTY;
        for (var each : digests.entrySet()) {
            if (each.getValue() != null) {
                digest = digest.with(each.getKey().asReadOnlyByteBuffer());
            }
        }
        return digest;
    }

    int size() {
        return digests.size();
    }

    /** Returns the source of the last record; null if there is none. */
    @Nullable ClusterId cluster() {
        return cluster;
    }

    /** Returns the latest revision of any record. */
    Revision newest() {
        return newest;
    }

    /** Removes the key and returns whether the topic's last record of it is this entry. */
    boolean takeIf(KeyValue entry) {
        Long last = digests.remove(entry.key());
        return last != null && last == digest(entry);
    }

    /** Removes and returns the remaining keys in {@code range}. */
    List<ByteString> takeRest(KeyRange range) {
        ByteString to = range.to();
        NavigableMap<ByteString, @Nullable Long> part =
                to == null ? digests.tailMap(range.from(), true) : digests.subMap(range.from(), true, to, false);
        List<ByteString> rest = List.copyOf(part.keySet());
        part.clear();
        return rest;
    }

    private void add(ConsumerRecord<byte[], byte[]> record) throws MalformedRecordException {
        TopicRecord content = RecordFormat.readOwn(record, null);
        if (content == null) {
            // Brokers accept records without a key while the topic is not compacted.
            if (record.key() != null) {
                // Compaction may remove what the mirror wrote to that key.
                digests.remove(ByteString.copyFrom(record.key()));
            }
            return;
        }
        boolean isCurrent = MirrorRecord.generation(record) == generation;
        String written = MirrorRecord.text(record.headers(), MirrorRecord.FORMAT);
        if (!written.equals(format)) {
            throw new SinkException.Refused("topic " + topic + " has values of format " + written + " at offset "
                    + record.offset() + "; configured: " + format
                    + " (2 is raw, 3 is debezium). Restore the setting format, or mirror to another topic");
        }
        cluster = content.cluster();
        if (content.revision().isAfter(newest)) {
            newest = content.revision();
        }
        ByteString key = content.key();
        KeyValue entry = content.entry();
        if (entry != null) {
            put(entry, isCurrent);
        } else if (key != null) {
            digests.remove(key);
        }
    }

    private void put(KeyValue entry, boolean isCurrent) {
        digests.put(entry.key(), isCurrent ? digest(entry) : null);
        if (digests.size() > maxKeys) {
            throw new SinkException.Refused("topic " + topic + " has more than " + maxKeys
                    + " keys, the limit of maxMergeKeys. Increase maxMergeKeys to merge a snapshot");
        }
    }

    private static long digest(KeyValue entry) {
        return CommitDigest.of(new Commit(entry.modRevision(), List.of(new Change.Put(entry))))
                .bytes()
                .asReadOnlyByteBuffer()
                .getLong();
    }

    /**
     * Selects the records of a snapshot: entries missing in the topics, and deleted keys.
     *
     * @param last contents of the state topic at the start, removed page by page
     */
    record SnapshotSelection(ClusterId source, Revision revision, LastRecords last) {

        /** Returns the records for a page of mirrored entries, under their names in the topics. */
        List<TopicRecord> page(KeyRange covered, List<KeyValue> entries) {
            List<TopicRecord> records = new ArrayList<>();
            for (KeyValue entry : entries) {
                if (!last.takeIf(entry)) {
                    records.add(new TopicRecord.Found(source, entry));
                }
            }
            for (ByteString gone : last.takeRest(covered)) {
                records.add(new TopicRecord.Gone(source, revision, gone));
            }
            return records;
        }
    }
}
