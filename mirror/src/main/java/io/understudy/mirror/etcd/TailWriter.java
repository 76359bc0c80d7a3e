package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.checkpoint.Marks;
import io.understudy.mirror.etcd.CommitBatch.TargetCommit;
import io.understudy.mirror.etcd.EtcdSinkOptions.TargetHistory;
import io.understudy.mirror.lease.TargetLeases;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.ForeignWriteHint;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Follows the source: writes its commits, several per transaction under load. It skips commits that the target has seen
 * before. Driven by the mirror's thread.
 *
 * <p>Invariant M4: foreign writes between two transactions are detected; a repair is fenced and reverts no earlier
 * commit.
 */
final class TailWriter implements AutoCloseable {

    private final MirrorScope scope;
    private final FencedWriter writer;
    private final SinkListener listener;
    private final TargetLeases leases;
    private final ByteString record;
    private final CommitPath paths = new CommitPath();
    private final BatchWriter batches;
    private final GroupCommit group;
    /** Whether commits and repairs are written, rather than a snapshot. */
    private final AtomicBoolean following = new AtomicBoolean();

    private Revision given = Revision.ZERO;
    private List<ClusterId> measured = List.of();
    private long room;

    TailWriter(
            String mirror,
            MirrorScope scope,
            FencedWriter writer,
            TargetLeases leases,
            TargetHistory history,
            ForeignWriteHint hint,
            SinkListener listener) {
        this.scope = scope;
        this.writer = writer;
        this.listener = listener;
        this.leases = leases;
        this.record = ReservedKeys.home(mirror);
        this.batches = new BatchWriter(mirror, writer, leases, hint);
        this.group = new GroupCommit("mirror-" + mirror + "-writer", history, batches::write, System::nanoTime);
    }

    /** Starts at that checkpoint; commits follow unless a snapshot does. */
    void begin(Checkpoint stored) {
        batches.endObservation();
        given = stored.revision();
        batches.completeAt(stored.state() == CheckpointState.SYNCED ? stored.revision() : Revision.ZERO);
        following.set(true);
    }

    /** Waits for pending writes, then permits other writers. */
    void end() {
        following.set(false);
        group.drain();
        batches.completeAt(Revision.ZERO);
    }

    /** Returns the revision up to which the target durably holds everything. Any thread. */
    Revision complete() {
        return batches.complete();
    }

    void commit(Commit commit, Position position) {
        requireNext(position);
        List<ClusterId> path = paths.of(commit, position.cluster());
        List<RequestOp> operations = Operations.of(commit, scope, leases.areKept());
        if (!operations.isEmpty() && path.contains(writer.target())) {
            listener.passedOver();
            batches.passedOver(operations);
            operations = List.of();
        }
        if (operations.isEmpty()) {
            if (commit.changes().stream().anyMatch(change -> change.key().equals(record))) {
                // The end marker of a switchover: clients wait for the checkpoint to reach it.
                writer.hurry(position.revision());
            }
            progress(position);
            return;
        }
        boolean queues = leases.areKept() && commit.changes().stream().anyMatch(TailWriter::createsLeased);
        group.add(new TargetCommit(operations, path, position, Instant.now(), queues), roomBeside(path));
        given = position.revision();
    }

    private static boolean createsLeased(Change change) {
        return change instanceof Change.Put put
                && put.keyValue().lease() != 0
                && put.keyValue().createRevision().equals(put.keyValue().modRevision());
    }

    void progress(Position position) {
        requireNotSyncing(writer.current());
        boolean waits = group.advance(position, Instant.now(), () -> writer.isMoveDue(position.revision()));
        if (!waits && writer.current().state() != CheckpointState.TORN) {
            batches.completeAt(position.revision());
        }
    }

    /** Returns the delay before {@link #caughtUp}. */
    Duration pause() {
        return group.pause();
    }

    /** Writes pending commits, since the feed has no more at present. */
    void caughtUp() {
        group.flush();
    }

    /** Waits until everything given is written. */
    void settle() {
        group.drain();
    }

    /** Observes commits to {@code keys} and ends the previous observation. Any thread. */
    KeyObservation observe(Collection<ByteString> keys) {
        return batches.observe(keys);
    }

    /**
     * Repairs keys that no commit changed since {@code observed} began. One request repairs as many as it has room for;
     * the checkpoint does not advance. Any thread; returns when done.
     *
     * @return false while a snapshot, or a commit in parts, is written
     */
    synchronized boolean repair(KeyObservation observed, Map<ByteString, RequestOp> operations, List<ClusterId> path) {
        AtomicBoolean done = new AtomicBoolean();
        group.between(() -> {
            if (following.get() && writer.current().state() == CheckpointState.SYNCED) {
                // Filtered between two batches, so no commit is written between the filter and the repair.
                List<RequestOp> left = operations.entrySet().stream()
                        .filter(operation -> observed.isUnchanged(operation.getKey()))
                        .map(Map.Entry::getValue)
                        .toList();
                if (!left.isEmpty()) {
                    // They belong to no commit, so that what exceeds one request is several transactions.
                    Operations.parts(left, writer.room(writer.current().marked(path, Instant.EPOCH)))
                            .forEach(part -> batches.repair(part, path));
                }
                done.set(true);
            }
        });
        return done.get();
    }

    /**
     * Restores keys with leases as of the checkpoint. It is {@code syncing} from the first write to the last, so that
     * no take-over finds a part.
     *
     * @return whether the target has them all
     */
    synchronized boolean restoreLeases(List<ClusterId> path, Synchronisation synchronisation) {
        AtomicBoolean done = new AtomicBoolean();
        group.between(() -> {
            Checkpoint stored = writer.current();
            Position at = stored.resumeAt();
            if (!following.get() || at == null || stored.state() != CheckpointState.SYNCED) {
                return;
            }
            done.set(leases.restore(at, null, operations -> {
                if (writer.current().state() == CheckpointState.SYNCED) {
                    Checkpoint marked = stored.marked(path, Instant.now());
                    writer.writeOwn(synchronisation.restoring(marked), marked.in(CheckpointState.SYNCING));
                }
                batches.repair(operations, path);
            }));
            if (writer.current().state() == CheckpointState.SYNCING) {
                writer.writeOwn(
                        synchronisation.restored(),
                        writer.current().marked(path, Instant.now()).in(CheckpointState.SYNCED));
            }
        });
        return done.get();
    }

    @Override
    public void close() {
        group.close();
    }

    private long roomBeside(List<ClusterId> path) {
        if (!path.equals(measured)) {
            room = writer.room(writer.current().marked(path, Instant.EPOCH));
            measured = path;
        }
        return room;
    }

    private void requireNext(Position position) {
        requireNotSyncing(writer.current());
        if (!position.revision().isAfter(given)) {
            throw new IllegalStateException(
                    "feed delivered revision " + position.revision() + " after revision " + given + " was mirrored");
        }
    }

    private static void requireNotSyncing(Checkpoint checkpoint) {
        if (checkpoint.state() == CheckpointState.SYNCING) {
            throw new IllegalStateException("feed delivered a commit before its snapshot is complete: " + checkpoint);
        }
    }

    /**
     * Determines the clusters that a commit has passed. A mirror's transaction puts its mark into the source; any other
     * commit was made there.
     *
     * <p>One thread.
     *
     * <p>Invariant M21: each commit carries the path of its clusters and is not written to one of them again; an invalid
     * mark stops the mirror.
     */
    private static final class CommitPath {

        private @Nullable ClusterId source;
        private List<ClusterId> own = List.of();

        /**
         * Returns the path of a commit, with the mark of the target.
         *
         * @return ends with {@code cluster}
         * @throws SinkException.Refused the mark is invalid: copying it might form a loop
         */
        List<ClusterId> of(Commit commit, ClusterId cluster) {
            List<ClusterId> passed = null;
            for (Change change : commit.changes()) {
                if (change instanceof Change.Put put && ReservedKeys.isMark(put.key())) {
                    List<ClusterId> next = decoded(put.key(), put.keyValue().value(), commit, cluster);
                    if (passed != null && !passed.equals(next)) {
                        throw new SinkException.Refused("commit at revision " + commit.revision()
                                + " of source cluster "
                                + cluster + " has marks of different paths, " + passed + " and " + next + " (at "
                                + shown(put.key()) + "); a mirror writes one mark per transaction");
                    }
                    passed = next;
                }
            }
            if (passed == null) {
                return ending(cluster);
            }
            List<ClusterId> path = new ArrayList<>(passed);
            path.add(cluster);
            return path;
        }

        /** Returns a shared list for all commits made at the source. */
        private List<ClusterId> ending(ClusterId cluster) {
            if (!cluster.equals(source)) {
                source = cluster;
                own = List.of(cluster);
            }
            return own;
        }

        private static List<ClusterId> decoded(ByteString key, ByteString value, Commit commit, ClusterId cluster) {
            try {
                return Marks.decode(
                        shown(key) + " of source cluster " + cluster + ", put at revision " + commit.revision(), value);
            } catch (CorruptCheckpointException e) {
                throw new SinkException.Refused(
                        "invalid mark of another mirror, so a loop cannot be detected: " + e.getMessage(), e);
            }
        }

        private static String shown(ByteString key) {
            return "key \"" + TextFormat.escapeBytes(key) + "\"";
        }
    }
}
