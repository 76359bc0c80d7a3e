package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.Heap.Widths;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Builds a tree from the pages of a snapshot alone: no deleted key survives. Equal held entries are reused, so that a
 * resynchronised replica needs little more memory.
 */
final class SnapshotMerge {

    private final KeyRange range;
    private final ClusterId cluster;
    private final Revision revision;
    private final @Nullable ReplicaState held;
    private final KeptVersions kept;
    private final EntryTree.Builder entries = new EntryTree.Builder(Widths.DEFAULT);
    private long heapBytes;
    /** The start of the next page. Null after the last one of a range without upper end. */
    private @Nullable ByteString next;

    SnapshotMerge(
            KeyRange range, ClusterId cluster, Revision revision, @Nullable ReplicaState held, KeptVersions kept) {
        this.range = range;
        this.cluster = cluster;
        this.revision = revision;
        this.held = held;
        this.kept = kept;
        this.next = range.from();
    }

    void page(KeyRange covered, List<KeyValue> page) {
        if (!covered.from().equals(next) || !range.covers(covered)) {
            throw new ReplicaDivergedException("snapshot page does not adjoin the previous page");
        }
        ByteString last = null;
        for (KeyValue entry : page) {
            if (!covered.contains(entry.key())
                    || (last != null && KeyRange.KEY_ORDER.compare(entry.key(), last) <= 0)) {
                throw new ReplicaDivergedException("keys of a snapshot page are out of order or out of its range");
            }
            last = entry.key();
            entries.add(heldIfEqual(entry));
        }
        next = covered.to();
    }

    /** The approximate heap use beyond the held state. */
    long heapBytes() {
        return heapBytes;
    }

    ReplicaState complete(Position position) {
        if (!position.revision().equals(revision) || !position.cluster().equals(cluster)) {
            throw new ReplicaDivergedException("snapshot started at revision " + revision + " of cluster " + cluster
                    + ", but completed at " + position.revision() + " of cluster " + position.cluster());
        }
        if (!Objects.equals(next, range.to())) {
            throw new ReplicaDivergedException("snapshot completed before its last page");
        }
        EntryTree tree = entries.build();
        if (held != null) {
            kept.replace(held.heapBytes() - (Heap.ofEntries(tree.totals()) - heapBytes));
        }
        return new ReplicaState(cluster, revision, range, tree, kept);
    }

    /**
     * Returns the held entry if it is equal. An unmodified one that differs means that the source has another history.
     */
    private Entry heldIfEqual(KeyValue entry) {
        if (entry.modRevision().isAfter(revision)) {
            throw new ReplicaDivergedException(
                    "snapshot at revision " + revision + " contains a key modified at revision " + entry.modRevision());
        }
        Entry found = Entry.of(entry);
        heapBytes += Heap.ofEntries(Totals.of(found.wire()));
        if (held == null) {
            return found;
        }
        Entry before = held.get(entry.key());
        if (before != null && before.equals(found)) {
            heapBytes -= Heap.ofArray(found.wireSize());
            return before;
        }
        if (!entry.modRevision().isAfter(held.revision())) {
            throw new ReplicaDivergedException("source history changed: the snapshot at revision " + revision
                    + " has a key last modified at " + entry.modRevision() + " that differs in the replica at revision "
                    + held.revision() + "; restart the gateway if the source was restored");
        }
        return found;
    }

    /** The feed contradicts the history that the replica holds. Fatal: nothing more is applied. */
    public static final class ReplicaDivergedException extends RuntimeException {

        ReplicaDivergedException(String message) {
            super(message);
        }
    }
}
