package io.understudy.feed.kafka;

import com.google.protobuf.ByteString;
import io.understudy.consumer.format.MirrorRecord.Kind;
import io.understudy.consumer.format.StateChain;
import io.understudy.consumer.format.StateDigest;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.HashSet;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a range by the state topic's records, and that state's completeness.
 *
 * <p>{@link StateChain} decides when they are complete.
 *
 * <p>A stray record removes its key: compaction may have removed a later record of the mirror than the one that was
 * read. The state is complete if its keys have the digest of the last mark.
 *
 * <p>Pure state, owned by the feed's thread.
 *
 * <p>Invariant FK3: a snapshot is the state at its revision, whatever is compacted or copied again meanwhile.
 */
final class StateTable {

    /** Approximate memory of an entry beside key and value. */
    private static final int ENTRY_BYTES = 256;

    private static final int HASH_BYTES = 64;

    private final KeyRange range;
    private final long maxBytes;
    private final NavigableMap<ByteString, KeyValue> entries = new TreeMap<>(KeyRange.KEY_ORDER);

    /** Hashes of keys outside the range: the digest covers these, too. */
    private final Set<Long> others = new HashSet<>();
    /** Keys that a stray record removed. */
    private final Set<ByteString> replaced = new HashSet<>();

    private final StateChain chain = new StateChain();
    private @Nullable ClusterId cluster;
    private long bytes;

    /** Creates a table of up to half of the heap. The consumer of its entries takes memory, too. */
    StateTable(KeyRange range) {
        this(range, Runtime.getRuntime().maxMemory() / 2);
    }

    StateTable(KeyRange range, long maxBytes) {
        this.range = range;
        this.maxBytes = maxBytes;
    }

    /** @throws Unexplained the keys exceed the memory limit */
    void requireFits() throws Unexplained {
        long needed = bytes + (long) HASH_BYTES * others.size();
        if (needed > maxBytes) {
            throw new Unexplained("state in Kafka needs at least " + needed + " bytes of memory for " + entries.size()
                    + " keys in the range and " + others.size() + " others; allowed: " + maxBytes
                    + ", half of the maximum Java heap. Increase the heap (UNDERSTUDY_JAVA_OPTS=-Xmx…), or reduce the"
                    + " range");
        }
    }

    /** Decides when the state is complete. */
    StateChain chain() {
        return chain;
    }

    /** Whether the keys have the digest of the last mark; without one, whether no stray record replaced a key. */
    boolean isWhole() {
        return chain.isWhole(!replaced.isEmpty());
    }

    /** The digests that {@link #isWhole} compares, for logs. */
    String digests() {
        return chain.digest() + " of " + (chain.expected() == null ? "unknown" : chain.expected());
    }

    /** Revision of the last mark. */
    Revision revision() {
        return new Revision(chain.revision());
    }

    /** Null before the first record. */
    @Nullable ClusterId cluster() {
        return cluster;
    }

    /** Entries in key order, owned by the caller from now on. */
    NavigableMap<ByteString, KeyValue> entries() {
        return entries;
    }

    /** Accepts a stray record. */
    void stray(ByteString key) {
        if (remove(key)) {
            replaced.add(key);
        }
    }

    /**
     * @param ofGeneration see {@link TopicOrigin}
     * @param state of a mark, if known
     */
    void accept(TopicRecord record, long ofGeneration, @Nullable StateDigest state) {
        long revision = record.revision().value();
        StateChain.Generation generation = chain.begin(ofGeneration, revision);
        if (generation == StateChain.Generation.OLD) {
            return;
        }
        if (generation == StateChain.Generation.NEW) {
            entries.clear();
            bytes = 0;
            others.clear();
            replaced.clear();
        }
        cluster = record.cluster();
        if (record instanceof TopicRecord.Changed changed) {
            chain.changed(revision, changed.index());
        }
        ByteString key = record.key();
        KeyValue entry = record.entry();
        if (entry != null) {
            put(entry);
        } else if (key != null) {
            gone(key);
        } else if (record instanceof TopicRecord.Complete complete) {
            chain.mark(Kind.COMPLETE, revision, complete.previous().value(), complete.records(), state);
        } else {
            boolean begins = record instanceof TopicRecord.SnapshotBegin;
            chain.mark(begins ? Kind.SNAPSHOT_BEGIN : Kind.SNAPSHOT_END, revision, 0, 0, state);
        }
    }

    private void put(KeyValue entry) {
        ByteString key = entry.key();
        replaced.remove(key);
        boolean isNew =
                range.contains(key) ? putInRange(entry) : others.add(StateDigest.hash(key.asReadOnlyByteBuffer()));
        if (isNew) {
            chain.added(key.asReadOnlyByteBuffer());
        }
    }

    private boolean putInRange(KeyValue entry) {
        KeyValue former = entries.put(entry.key(), entry);
        bytes += size(entry) - size(former);
        return former == null;
    }

    private boolean removeInRange(ByteString key) {
        KeyValue former = entries.remove(key);
        bytes -= size(former);
        return former != null;
    }

    private static long size(@Nullable KeyValue entry) {
        return entry == null ? 0 : ENTRY_BYTES + entry.bytes();
    }

    private void gone(ByteString key) {
        replaced.remove(key);
        boolean unused = remove(key);
    }

    private boolean remove(ByteString key) {
        boolean isRemoved =
                range.contains(key) ? removeInRange(key) : others.remove(StateDigest.hash(key.asReadOnlyByteBuffer()));
        if (isRemoved) {
            chain.removed(key.asReadOnlyByteBuffer());
        }
        return isRemoved;
    }
}
