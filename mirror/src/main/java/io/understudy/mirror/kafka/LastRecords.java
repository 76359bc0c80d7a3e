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
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Digests of the state topic's entries, by key with a put as last record. A revision alone does not suffice: another
 * history of the source may have another entry at it. Values are not held. Readers ignore entries of an earlier
 * generation, so these have a key but no digest.
 *
 * <p>Where memory does not suffice for all keys, the topic is read for one part of the keys after the other.
 */
final class LastRecords {

    private static final Logger LOG = LoggerFactory.getLogger(LastRecords.class);

    /** Of a process with several mirrors. */
    private static final long MAX_BYTES = Runtime.getRuntime().maxMemory() / 8;

    /** Memory of an entry in addition to its key. */
    private static final long ENTRY_BYTES = 130;

    private final NavigableMap<ByteString, @Nullable Long> digests = new TreeMap<>(KeyRange.KEY_ORDER);
    private final TopicReader reader;
    private final String topic;
    private final int maxKeys;
    private final String format;
    private final long generation;
    private @Nullable ClusterId cluster;
    private Revision newest = Revision.ZERO;
    private long end;
    private long bytes;
    /** First key of the present part. */
    private ByteString from = ByteString.EMPTY;
    /** First key of the next part; null if the present one is the last. */
    private @Nullable ByteString rest;

    private LastRecords(TopicReader reader, KafkaSinkOptions options, long generation) {
        this.reader = reader;
        this.topic = options.stateTopic();
        this.maxKeys = options.maxMergeKeys();
        this.format = options.format().number();
        this.generation = generation;
    }

    /**
     * Reads the topic to its current end, for the first part.
     *
     * @param generation of the mirror's records
     * @param atLeast offset that the end must reach
     * @throws SinkException.Refused a record has another format
     */
    static LastRecords read(TopicReader reader, KafkaSinkOptions options, long generation, long atLeast) {
        LastRecords last = new LastRecords(reader, options, generation);
        last.read(atLeast);
        return last;
    }

    private void read(long atLeast) {
        digests.clear();
        bytes = 0;
        rest = null;
        end = reader.read(new TopicPartition(topic, 0), 0, atLeast, this::add).end();
    }

    /** Returns the first key of the next part if it is before {@code end}, which is null for the end of all keys. */
    @Nullable ByteString restBefore(@Nullable ByteString end) {
        ByteString next = rest;
        return next == null || end == null || KeyRange.KEY_ORDER.compare(next, end) < 0 ? next : null;
    }

    /** Reads the topic again, for the next part. The caller has no open transaction. */
    void readRest() {
        from = Objects.requireNonNull(rest, "the present part is the last");
        long began = System.nanoTime();
        read(end);
        LOG.atInfo()
                .addKeyValue("topic", topic)
                .addKeyValue("keys", digests.size())
                .addKeyValue("last", rest == null)
                .addKeyValue("ms", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began))
                .log("state topic read again for the next keys, which did not fit into memory");
    }

    /** Offset up to which the topic was read. */
    long end() {
        return end;
    }

    /** Returns the digest of the keys that readers count; reads all parts. */
    StateDigest digest() {
        StateDigest digest = StateDigest.EMPTY;
        while (true) {
            for (var each : digests.entrySet()) {
                if (each.getValue() != null) {
                    digest = digest.with(each.getKey().asReadOnlyByteBuffer());
                }
            }
            if (rest == null) {
                return digest;
            }
            readRest();
        }
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
        Long found = digests.get(entry.key());
        remove(entry.key());
        return found != null && found == digest(entry);
    }

    /** Removes and returns the remaining keys in {@code range}. */
    List<ByteString> takeRest(KeyRange range) {
        ByteString to = range.to();
        NavigableMap<ByteString, @Nullable Long> part =
                to == null ? digests.tailMap(range.from(), true) : digests.subMap(range.from(), true, to, false);
        List<ByteString> keys = List.copyOf(part.keySet());
        keys.forEach(this::remove);
        return keys;
    }

    private void add(ConsumerRecord<byte[], byte[]> record) throws MalformedRecordException {
        if (!from.isEmpty() && record.key() != null && !isPresent(ByteString.copyFrom(record.key()))) {
            // Was decoded and checked for the first part.
            return;
        }
        TopicRecord content = RecordFormat.readOwn(record, null);
        if (content == null) {
            // Brokers accept records without a key while the topic is not compacted.
            if (record.key() != null) {
                // Compaction may remove what the mirror wrote to that key.
                remove(ByteString.copyFrom(record.key()));
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
        if (entry != null && isPresent(entry.key())) {
            put(entry, isCurrent);
        } else if (entry == null && key != null) {
            remove(key);
        }
    }

    private boolean isPresent(ByteString key) {
        return KeyRange.KEY_ORDER.compare(key, from) >= 0
                && (rest == null || KeyRange.KEY_ORDER.compare(key, rest) < 0);
    }

    private void put(KeyValue entry, boolean isCurrent) {
        remove(entry.key());
        digests.put(entry.key(), isCurrent ? digest(entry) : null);
        bytes += bytes(entry.key());
        while (digests.size() > 1 && (digests.size() > maxKeys || bytes > MAX_BYTES)) {
            rest = digests.lastKey();
            remove(rest);
        }
    }

    private void remove(ByteString key) {
        if (digests.containsKey(key)) {
            digests.remove(key);
            bytes -= bytes(key);
        }
    }

    private static long bytes(ByteString key) {
        return ENTRY_BYTES + key.size();
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
