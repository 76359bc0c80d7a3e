package io.understudy.gateway.replica;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the memory of versions that only unfinished responses keep: states that left the window, and large batches of
 * events that left the log. Thread-safe.
 *
 * <p>A state shares with the next kept one all that was not replaced between them, so it costs at most what was
 * replaced, however many responses read it. Beyond the limit, the responses of the oldest version end. Among batches,
 * a stalled one ends first. Of one revision the newest ends, since its watchers resume at it.
 */
public final class KeptVersions {

    /** Part of the heap that versions may always take. */
    private static final int HEAP_SHARE = 16;

    private static final Logger LOG = LoggerFactory.getLogger(KeptVersions.class);

    /** A batch of which nothing was written for as long keeps no other from being read. */
    static final long STALLED_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final LongSupplier spareBytes;
    private final LongSupplier clock;
    private final IntConsumer ended;
    /** Bytes that commits have replaced so far. */
    private final AtomicLong replaced = new AtomicLong();

    // Under this object's lock.
    /** States by {@link #replaced} at their time. */
    private final TreeMap<Long, Version> states = new TreeMap<>();

    private final TreeMap<Batch, Version> batches = new TreeMap<>();
    /** States from there on, by {@link #replaced}, are in the window anyway. */
    private long windowFrom;
    /** Batches after that revision are in the log anyway. */
    private long logFrom;

    /** Batches up to a revision from one log. Each reading of history has a log with copies of its own. */
    private record Batch(long revision, long log) implements Comparable<Batch> {
        private static final Comparator<Batch> ORDER =
                Comparator.comparingLong(Batch::revision).thenComparingLong(Batch::log);

        @Override
        public int compareTo(Batch other) {
            return ORDER.compare(this, other);
        }
    }

    /** A version, and the tasks that end its readers. */
    private static final class Version {
        private final long revision;
        private final Set<Reader> readers = new LinkedHashSet<>(1);
        private long maxBytes;
        /** When a reader was counted last: each counts itself again when it has written a part. */
        private long progressNanos;

        Version(long revision) {
            this.revision = revision;
        }
    }

    private static final class Reader {
        private final Runnable end;

        Reader(Runnable end) {
            this.end = end;
        }
    }

    /**
     * @param spareBytes memory that the replica leaves of its limit
     * @param ended receives numbers of responses that were ended
     */
    public KeptVersions(LongSupplier spareBytes, IntConsumer ended) {
        this(spareBytes, ended, System::nanoTime);
    }

    KeptVersions(LongSupplier spareBytes, IntConsumer ended, LongSupplier clock) {
        this.spareBytes = spareBytes;
        this.ended = ended;
        this.clock = clock;
    }

    /** A commit replaces that many bytes. For the writing thread. */
    void replace(long bytes) {
        long unused = replaced.addAndGet(Math.max(0, bytes));
    }

    /** The bytes that commits have replaced so far. */
    long replaced() {
        return replaced.get();
    }

    /**
     * The window has dropped states, or the log commits. For the writing thread.
     *
     * @param fromState the first state of the window, by {@link #replaced}
     * @param fromRevision the log has all commits after it
     */
    void dropped(long fromState, long fromRevision) {
        List<Reader> excess;
        synchronized (this) {
            windowFrom = fromState;
            logFrom = fromRevision;
            excess = excess();
        }
        end(excess);
    }

    /** As {@link ReplicaState#keep}. */
    Runnable keepState(long at, long revision, long bytes, Runnable end) {
        return keep(states, at, revision, bytes, end);
    }

    /**
     * Counts a batch of events that a response keeps. Counted again after each part that was written.
     *
     * @param revision of its last event
     * @param log {@link CommitLog#number} of the log that it is from
     * @param bytes of all events that were collected with it
     * @param end run on any thread if such responses keep too much
     * @return ends the count
     */
    public Runnable keepBatch(long revision, long log, long bytes, Runnable end) {
        return keep(batches, new Batch(revision, log), revision, bytes, end);
    }

    /** The bytes kept for responses alone. */
    public synchronized long bytes() {
        return stateBytes() + batchBytes();
    }

    private <K> Runnable keep(Map<K, Version> kind, K key, long revision, long bytes, Runnable end) {
        Reader reader = new Reader(end);
        List<Reader> excess;
        synchronized (this) {
            Version version = kind.computeIfAbsent(key, absent -> new Version(revision));
            version.maxBytes = Math.max(version.maxBytes, bytes);
            version.progressNanos = clock.getAsLong();
            version.readers.add(reader);
            excess = excess();
        }
        end(excess);
        return () -> release(kind, key, reader);
    }

    private synchronized <K> void release(Map<K, Version> kind, K key, Reader reader) {
        Version version = kind.get(key);
        if (version != null && version.readers.remove(reader) && version.readers.isEmpty()) {
            kind.remove(key);
        }
    }

    /** Removes and returns the readers to be ended. */
    private List<Reader> excess() {
        if (isNothingKept()) {
            return List.of();
        }
        long limit = Math.max(spareBytes.getAsLong(), Runtime.getRuntime().maxMemory() / HEAP_SHARE);
        long batchBytes = batchBytes();
        // What all states keep is at most what was replaced since the oldest.
        if (windowFrom - (states.isEmpty() ? windowFrom : states.firstKey()) + batchBytes <= limit) {
            return List.of();
        }
        List<Reader> readers = new ArrayList<>();
        for (long bytes = stateBytes() + batchBytes; bytes > limit; ) {
            Map.Entry<Long, Version> state = oldestState();
            Map.Entry<Batch, Version> batch = endedBatch();
            if (state != null && (batch == null || state.getValue().revision <= batch.getValue().revision)) {
                bytes -= bytesOf(state);
                states.pollFirstEntry();
                readers.addAll(state.getValue().readers);
            } else if (batch != null) {
                bytes -= batch.getValue().maxBytes;
                batches.remove(batch.getKey());
                readers.addAll(batch.getValue().readers);
            } else {
                break;
            }
        }
        return readers;
    }

    private void end(List<Reader> readers) {
        if (!readers.isEmpty()) {
            LOG.atWarn()
                    .addKeyValue("responses", readers.size())
                    .log("slow responses ended: old versions take too much memory");
            ended.accept(readers.size());
            readers.forEach(reader -> reader.end.run());
        }
    }

    private boolean isNothingKept() {
        return oldestState() == null && (batches.isEmpty() || batches.firstKey().revision > logFrom);
    }

    private Map.@Nullable Entry<Long, Version> oldestState() {
        Map.Entry<Long, Version> first = states.firstEntry();
        return first != null && first.getKey() < windowFrom ? first : null;
    }

    /** Never the last one, which may be larger than the limit: its watchers would resume at it. */
    private Map.@Nullable Entry<Batch, Version> endedBatch() {
        if (batches.size() <= 1 || batches.firstKey().revision > logFrom) {
            return null;
        }
        long now = clock.getAsLong();
        long oldest = batches.firstKey().revision;
        Map.Entry<Batch, Version> idlest = batches.headMap(new Batch(logFrom, Long.MAX_VALUE), true).entrySet().stream()
                .max(Comparator.comparingLong(each -> now - each.getValue().progressNanos))
                .orElseThrow();
        return now - idlest.getValue().progressNanos >= STALLED_NANOS
                ? idlest
                : batches.lowerEntry(new Batch(oldest + 1, 0));
    }

    private long stateBytes() {
        long sum = 0;
        for (Map.Entry<Long, Version> each : states.headMap(windowFrom, false).entrySet()) {
            sum += bytesOf(each);
        }
        return sum;
    }

    /** The bytes of a state that the next one has not. */
    private long bytesOf(Map.Entry<Long, Version> state) {
        Long next = states.higherKey(state.getKey());
        long until = next == null ? windowFrom : Math.min(next, windowFrom);
        return Math.min(until - state.getKey(), state.getValue().maxBytes);
    }

    private long batchBytes() {
        long sum = 0;
        for (Version each :
                batches.headMap(new Batch(logFrom, Long.MAX_VALUE), true).values()) {
            sum += each.maxBytes;
        }
        return sum;
    }
}
