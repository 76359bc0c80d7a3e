package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Position;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive commits of the source that become one of the target: the last write of each key. Readers of the target
 * thus see only states of the source.
 *
 * <p>Commits of different paths are never joined, since a transaction has one mark. Nor are two that put keys with
 * leases: locks queue by the revision that created their key. Nor is one that puts such a key with a delete before it:
 * that may delete the last key of the lease, which is then granted again. Nor are a put and a deletion of one key, in
 * either order: etcd reports one event per key and transaction, so a watcher would miss the deletion.
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
    private List<ClusterId> path = List.of();
    private @Nullable Position position;
    private Instant at = Instant.EPOCH;

    CommitBatch(TargetHistory history) {
        this.history = history;
    }

    /** Whether nothing was added. */
    boolean isEmpty() {
        return position == null;
    }

    /** How many commits were joined. */
    int commits() {
        return commits;
    }

    /** Whether it puts keys with leases. */
    boolean isLeased() {
        return leased;
    }

    /**
     * Whether {@code next} may become part of it. A batch without operations takes anything, also what is larger than
     * {@code room}.
     *
     * @param room how many bytes one transaction takes
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
     * Adds the commit after the last one that was added.
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
        path = next.path();
        advanceTo(next.position(), next.at());
    }

    /** Nothing happened from the last commit that was added to there. */
    void advanceTo(Position reached, Instant givenAt) {
        position = reached;
        at = givenAt;
    }

    /** What is to be done, at most one operation of each key; none if it only advanced. */
    List<RequestOp> operations() {
        return List.copyOf(operations.values());
    }

    /**
     * The same as one part, or as several if it is one commit that one transaction can't take. An operation that takes
     * more than a transaction's room comes first: a target that rejects it has none of the commit.
     */
    List<List<RequestOp>> parts() {
        return bytes <= room
                ? List.of(operations())
                : Operations.parts(operations(), room).stream()
                        .sorted(Comparator.comparingLong(part -> -Math.max(0, bytes(part) - room)))
                        .toList();
    }

    private static long bytes(List<RequestOp> part) {
        return part.stream().mapToLong(Operations::bytes).sum();
    }

    /** Of all its commits; empty if there are none. */
    List<ClusterId> path() {
        return path;
    }

    /** The target's position after this write. */
    Position position() {
        if (position == null) {
            throw new IllegalStateException("empty batch has no position");
        }
        return position;
    }

    /** When the feed gave what was added last. */
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
        return !leased && operations.values().stream().noneMatch(RequestOp::hasRequestDeleteRange);
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
}
