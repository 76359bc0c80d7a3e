package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.mirror.etcd.EtcdSinkOptions.TargetHistory;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Position;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive source commits merged into one target commit: the last write of each key. Readers of the target thus see
 * only states of the source.
 *
 * <p>Commits of different paths are never joined, since a transaction has one mark. Nor are two that create keys with
 * leases: locks queue by the revision that created their key. Nor is one that puts a key with a lease with a delete
 * before it: that may delete the last key of the lease, which is then granted again. Nor are a put and a deletion of
 * one key, in either order: etcd reports one event per key and transaction, so a watcher would miss the deletion.
 *
 * <p>Invariant M3: joined commits fit into a request and share one path. Readers of the target see only source states,
 * in order, and its watchers see each deletion.
 */
final class CommitBatch {

    private final Map<ByteString, RequestOp> operations = new LinkedHashMap<>();
    private final TargetHistory history;
    private int commits;
    private long bytes;
    private long room;
    private boolean leased;
    private boolean queues;
    private List<ClusterId> path = List.of();
    private @Nullable Position position;
    private Instant at = Instant.EPOCH;

    CommitBatch(TargetHistory history) {
        this.history = history;
    }

    boolean isEmpty() {
        return position == null;
    }

    int commits() {
        return commits;
    }

    /** Whether the batch puts keys with leases. */
    boolean isLeased() {
        return leased;
    }

    /**
     * Whether {@code next} may be added. A batch without operations accepts any commit, even one larger than {@code
     * room}.
     *
     * @param room bytes that fit into one transaction
     */
    boolean takes(TargetCommit next, long room) {
        if (operations.isEmpty()) {
            return true;
        }
        return history == TargetHistory.COALESCED
                && path.equals(next.path())
                && keepsQueues(next)
                && keepsDeletions(next)
                && fits(next, room);
    }

    /**
     * Adds the commit that follows the last added one.
     *
     * @param room as for {@link #takes}
     */
    void add(TargetCommit next, long room) {
        this.room = room;
        commits++;
        for (RequestOp operation : next.operations()) {
            RequestOp before = operations.put(Operations.key(operation), operation);
            bytes += Operations.bytes(operation) - (before == null ? 0 : Operations.bytes(before));
        }
        leased |= next.isLeased();
        queues |= next.queues();
        path = next.path();
        advanceTo(next.position(), next.at());
    }

    /** Advances the position without changes. */
    void advanceTo(Position reached, Instant givenAt) {
        position = reached;
        at = givenAt;
    }

    /** Returns at most one operation per key; none if the batch only advanced. */
    List<RequestOp> operations() {
        return List.copyOf(operations.values());
    }

    /**
     * Returns the operations in parts: one, or several if a commit exceeds one transaction. The largest comes first: a
     * target that rejects one for its size has none of the commit.
     */
    List<List<RequestOp>> parts() {
        return bytes <= room
                ? List.of(operations())
                : Operations.parts(operations(), room).stream()
                        .sorted(Comparator.comparingLong(part -> -bytes(part)))
                        .toList();
    }

    private static long bytes(List<RequestOp> part) {
        return part.stream().mapToLong(Operations::bytes).sum();
    }

    /** Returns the path of all commits; empty if there are none. */
    List<ClusterId> path() {
        return path;
    }

    /** Returns the target's position after this write. */
    Position position() {
        if (position == null) {
            throw new IllegalStateException("empty batch has no position");
        }
        return position;
    }

    /** Returns when the feed delivered the last addition. */
    Instant at() {
        return at;
    }

    private boolean fits(TargetCommit next, long room) {
        long after = bytes + next.bytes();
        if (after <= room) {
            return true;
        }
        for (RequestOp operation : next.operations()) {
            RequestOp replaced = operations.get(Operations.key(operation));
            after -= replaced == null ? 0 : Operations.bytes(replaced);
        }
        return after <= room;
    }

    private boolean keepsQueues(TargetCommit next) {
        if (!next.isLeased()) {
            return true;
        }
        return !(queues && next.queues()) && operations.values().stream().noneMatch(RequestOp::hasRequestDeleteRange);
    }

    private boolean keepsDeletions(TargetCommit next) {
        for (RequestOp operation : next.operations()) {
            RequestOp before = operations.get(Operations.key(operation));
            if (before != null && before.hasRequestPut() != operation.hasRequestPut()) {
                return false;
            }
        }
        return true;
    }

    /**
     * A commit of the source in the target's terms.
     *
     * @param operations at least one, at most one of each key
     * @param path its mark: the clusters it has passed, ending with the source
     * @param position of the commit
     * @param at when the feed gave it
     * @param queues whether it creates a key with a lease, as clients that queue for a lock do
     */
    record TargetCommit(
            List<RequestOp> operations, List<ClusterId> path, Position position, Instant at, boolean queues) {

        /** Whether it puts a key with a lease. */
        boolean isLeased() {
            for (RequestOp operation : operations) {
                if (operation.getRequestPut().getLease() != 0) {
                    return true;
                }
            }
            return false;
        }

        /** Bytes that it takes in a request, at most. */
        long bytes() {
            long sum = 0;
            for (RequestOp operation : operations) {
                sum += Operations.bytes(operation);
            }
            return sum;
        }
    }
}
