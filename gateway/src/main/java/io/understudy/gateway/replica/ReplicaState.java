package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.EntryCursor.DescendingCursor;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/** The source's keys in the range at one revision, with versions and leases. Immutable and thread-safe. */
public final class ReplicaState {

    private final ClusterId cluster;
    private final Revision revision;
    private final KeyRange range;
    private final EntryTree entries;
    private final KeptVersions kept;
    /** {@link KeptVersions#replaced} at its time. */
    private final long replaced;

    ReplicaState(ClusterId cluster, Revision revision, KeyRange range, EntryTree entries, KeptVersions kept) {
        this(cluster, revision, range, entries, kept, kept.replaced());
    }

    private ReplicaState(
            ClusterId cluster, Revision revision, KeyRange range, EntryTree entries, KeptVersions kept, long replaced) {
        this.cluster = cluster;
        this.revision = revision;
        this.range = range;
        this.entries = entries;
        this.kept = kept;
        this.replaced = replaced;
    }

    /** The source's cluster ID. */
    public ClusterId cluster() {
        return cluster;
    }

    /** Includes all commits up to this one, and none after it. */
    public Revision revision() {
        return revision;
    }

    /** The part of the key space that it copies. */
    public KeyRange range() {
        return range;
    }

    /** Number of keys. */
    public long keys() {
        return entries.totals().count();
    }

    /** Bytes of keys and values. */
    public long bytes() {
        return entries.totals().bytes();
    }

    public @Nullable Entry get(ByteString key) {
        return entries.get(key);
    }

    /** Number of keys inside {@code part}, in logarithmic time. */
    public long count(KeyRange part) {
        return totals(part).count();
    }

    /** The totals of the entries in {@code part}, in logarithmic time. */
    public Totals totals(KeyRange part) {
        return entries.totals(part);
    }

    /** The entries in {@code part} in key order. */
    public EntryCursor cursor(KeyRange part) {
        return entries.cursor(part);
    }

    /** The entries in {@code part} in descending key order. */
    public DescendingCursor descending(KeyRange part) {
        return entries.descending(part);
    }

    /** The range of the first {@code count} entries of {@code part}, which has more. In logarithmic time. */
    public KeyRange first(KeyRange part, long count) {
        return entries.first(part, count);
    }

    /** The range of the last {@code count} entries of {@code part}, at least one; it has more. In logarithmic time. */
    public KeyRange last(KeyRange part, long count) {
        return entries.last(part, count);
    }

    /** The same at a later revision, without changes in the range. */
    ReplicaState asOf(Revision later) {
        return later.equals(revision) ? this : new ReplicaState(cluster, later, range, entries, kept, replaced);
    }

    /**
     * Counts this state as kept by a response that is read slowly.
     *
     * @param end run on any thread if such responses keep too much
     * @return ends the count
     */
    public Runnable keep(Runnable end) {
        return kept.keepState(replaced, revision.value(), heapBytes(), end);
    }

    /** {@link KeptVersions#replaced} at its time. */
    long replaced() {
        return replaced;
    }

    /** The approximate heap use. */
    long heapBytes() {
        return Heap.ofEntries(entries.totals());
    }

    EntryTree entries() {
        return entries;
    }

    /** Receives applied changes of the replica and its log, on the writing thread. */
    @FunctionalInterface
    public interface ReplicaListener {

        /** There is a new state. */
        void published(ReplicaState state);

        /** The feed has reached that revision without a state. */
        default void advanced(Revision revision) {}

        /** The source had no commit beyond the revision, which the feed has reached, at {@code time}. */
        default void asOf(Revision revision, Instant time) {}

        /** Another cluster follows, and revisions restart below some that clients have seen. */
        default void restarted(Revision revision) {}

        /** So many slowly read responses were ended, since they kept old versions. Called on any thread. */
        default void ended(int responses) {}

        /** The state was dropped. */
        default void dropped(Condition.Dropped why) {}
    }

    /**
     * The latest state and the retained ones before it. One thread writes; any thread reads, without locks. Another
     * snapshot starts another window.
     *
     * <p>States share everything unchanged; the cost of the rest is counted with the commits.
     *
     * <p>Invariant R1b: within the window, every past state and logged commit equals the source, and the commit log has no
     * gap.
     */
    static final class Window {

        /** States by the revisions of their commits. */
        private final ConcurrentNavigableMap<Long, ReplicaState> states = new ConcurrentSkipListMap<>();

        private volatile ReplicaState latest;
        /** The state before the first of the others. */
        private volatile ReplicaState oldest;

        Window(ReplicaState snapshot) {
            this.latest = snapshot;
            this.oldest = snapshot;
        }

        ReplicaState latest() {
            return latest;
        }

        ReplicaState oldest() {
            return oldest;
        }

        /** Returns the state at that revision; null before the window or after the latest state. */
        @Nullable ReplicaState at(Revision revision) {
            if (revision.isAfter(latest.revision())) {
                return null;
            }
            Map.Entry<Long, ReplicaState> found = states.floorEntry(revision.value());
            if (found != null) {
                return found.getValue().asOf(revision);
            }
            ReplicaState first = oldest;
            return first.revision().isAfter(revision) ? null : first.asOf(revision);
        }

        /** Adds the state after the next commit. */
        void add(ReplicaState after) {
            states.put(after.revision().value(), after);
            latest = after;
        }

        /** Advances the latest state without a commit. */
        void advance(Revision revision) {
            latest = latest.asOf(revision);
        }

        /** Drops the states before the commit at that revision. */
        void forget(long revision) {
            Map.Entry<Long, ReplicaState> last = states.floorEntry(revision);
            if (last != null) {
                // In this order: a reader that misses a state finds a newer one, not an older one.
                oldest = last.getValue();
                states.headMap(revision, true).clear();
            }
        }
    }

    /** The condition of a replica, with the reason if it has no state. */
    public sealed interface Condition {

        /** The first snapshot is being loaded; no state. */
        record Loading() implements Condition {}

        /** There is a state, and it follows the source. */
        record Ready() implements Condition {}

        /**
         * The state was dropped and its memory freed. Commits are followed without being applied until a rebuild.
         *
         * @param reason for operators
         */
        record Dropped(String reason) implements Condition {}
    }
}
