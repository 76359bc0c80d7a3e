package io.understudy.mirror.etcd;

import io.etcd.jetcd.api.RequestOp;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.ProgressSchedule;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes commits, each one whole together with the checkpoint. One too large for one transaction is written in parts, the
 * checkpoint standing {@code torn} before it until the last part: after a crash the feed gives it again.
 */
final class Tail {

    private static final Logger LOG = LoggerFactory.getLogger(Tail.class);

    private final String mirror;
    private final MirrorScope scope;
    private final CheckpointWriter writer;
    private final ProgressSchedule schedule;
    private volatile Revision complete = Revision.ZERO;

    Tail(String mirror, MirrorScope scope, CheckpointWriter writer, ProgressSchedule schedule) {
        this.mirror = mirror;
        this.scope = scope;
        this.writer = writer;
        this.schedule = schedule;
    }

    /** The target is known to be whole up to there; {@link Revision#ZERO} while it isn't whole. */
    void completeAt(Revision revision) {
        complete = revision;
    }

    Revision complete() {
        return complete;
    }

    void commit(Commit commit, Position position) {
        List<RequestOp> operations = Operations.of(commit, scope);
        if (operations.isEmpty()) {
            progress(position);
            return;
        }
        Checkpoint before = writer.current();
        requireNotSyncing(before);
        if (!position.revision().isAfter(before.revision())) {
            throw new IllegalStateException("the feed gave revision " + position.revision() + " after revision "
                    + before.revision() + " was mirrored");
        }
        Checkpoint after = before.syncedAt(position);
        List<List<RequestOp>> parts = Operations.parts(operations, writer.room(after));
        if (parts.size() > 1) {
            LOG.info(
                    "mirror={} commit torn, revision={} operations={} parts={}",
                    mirror,
                    commit.revision(),
                    operations.size(),
                    parts.size());
        }
        for (List<RequestOp> part : parts.subList(0, parts.size() - 1)) {
            writer.write(part, before.in(CheckpointState.TORN));
        }
        writer.write(parts.get(parts.size() - 1), after);
        complete = position.revision();
    }

    void progress(Position position) {
        Checkpoint stored = writer.current();
        if (stored.state() == CheckpointState.TORN) {
            // Only the rest of the torn commit, which the feed gives next, makes the range whole again.
            return;
        }
        requireNotSyncing(stored);
        if (schedule.isDue(stored.revision(), position.revision())) {
            writer.write(List.of(), stored.syncedAt(position));
        }
        complete = position.revision();
    }

    private static void requireNotSyncing(Checkpoint checkpoint) {
        if (checkpoint.state() == CheckpointState.SYNCING) {
            throw new IllegalStateException("the feed goes on before its snapshot is complete: " + checkpoint);
        }
    }
}
