package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.EntryCursor.DescendingCursor;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
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
}
