package io.understudy.mirror.etcd;

import io.etcd.jetcd.api.RequestOp;
import io.understudy.etcd.EtcdCluster;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.sink.ProgressSchedule;
import io.understudy.mirror.sink.ReservedKeys;
import io.understudy.mirror.sink.Sink;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a range of another etcd cluster equal to the source's: each commit is one target transaction together with the
 * checkpoint.
 *
 * <p>Taking over raises the epoch in the checkpoint, which fences off whatever an earlier writer, killed perhaps, has
 * still on its way. A snapshot is merged: only what differs is written, and what the source doesn't have is deleted;
 * meanwhile the checkpoint is {@code syncing}. A commit too large for one transaction is written in parts, the checkpoint
 * standing {@code torn} before it until the last part: after a crash the feed gives the commit again.
 *
 * <p>Values are copied without their leases; what a lease ends at the source is deleted here like anything else.
 */
public final class EtcdSink implements Sink {

    private static final Logger LOG = LoggerFactory.getLogger(EtcdSink.class);

    private static final int TAKE_OVER_ATTEMPTS = 5;

    private final String mirror;
    private final KeyRange range;
    private final String writerName;
    private final EtcdSinkOptions options;
    private final SinkListener listener;
    private final TargetCalls calls;
    private final FencedWriter writer;
    private final TargetChecks checks;
    private final ProgressSchedule schedule;

    private volatile Revision complete = Revision.ZERO;

    /**
     * @param target stays the caller's to close
     * @param writerName differs between any two writers, see {@link Checkpoint#writer}
     */
    public EtcdSink(
            String mirror,
            KeyRange range,
            String writerName,
            EtcdCluster target,
            EtcdSinkOptions options,
            SinkListener listener) {
        this.mirror = mirror;
        this.range = range;
        this.writerName = writerName;
        this.options = options;
        this.listener = listener;
        this.calls = new TargetCalls(target, listener);
        this.writer = new FencedWriter(calls, mirror, options);
        this.checks = new TargetChecks(mirror, range, calls, writer);
        this.schedule = new ProgressSchedule(options.progressInterval());
    }

    @Override
    public @Nullable Position open() {
        SinkException.@Nullable Fenced lost = null;
        for (int attempt = 0; attempt < TAKE_OVER_ATTEMPTS; attempt++) {
            Checkpoint found = writer.read();
            if (found == null) {
                if (options.onForeignKeys() == ForeignKeys.FAIL) {
                    checks.requireNoForeignKeys();
                }
                return null;
            }
            checks.requireOurs(found);
            Checkpoint taken = found.takenOverBy(writerName);
            try {
                write(List.of(), taken);
            } catch (SinkException.Fenced e) {
                // The writer before us had something on its way: look again.
                lost = e;
                continue;
            }
            LOG.info(
                    "mirror={} taken over, epoch={} state={} revision={} from={}",
                    mirror,
                    taken.epoch(),
                    taken.state().word(),
                    taken.revision(),
                    found.writer());
            Position position = taken.resumeAt();
            if (taken.state() == CheckpointState.SYNCED) {
                complete = taken.revision();
            }
            return position;
        }
        throw new SinkException.Fenced("mirror " + mirror + " could not be taken over in " + TAKE_OVER_ATTEMPTS
                + " attempts: another one is writing. The last: "
                + (lost == null ? "" : lost.getMessage()));
    }

    @Override
    public void snapshotStarted(ClusterId cluster, Revision revision) {
        checks.requireAnotherCluster(cluster);
        Checkpoint before = writer.current();
        if (before == null) {
            checks.requireNoOtherMirror();
            Checkpoint first =
                    new Checkpoint(cluster, range, Revision.ZERO, null, 1, writerName, CheckpointState.SYNCING);
            write(List.of(), first);
            // Of two that begin at the same time, one at least sees the other, before either has written data.
            checks.requireNoOtherMirror();
            return;
        }
        checks.requireSource(before, cluster);
        checks.requireNotBehind(before, revision);
        complete = Revision.ZERO;
        if (before.state() != CheckpointState.SYNCING) {
            write(List.of(), before.in(CheckpointState.SYNCING));
        }
    }

    @Override
    public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
        Checkpoint syncing = current();
        long room = writer.room(syncing);
        PageMerge merge = new PageMerge(entries, options.onForeignKeys(), writer.createRevision());
        List<RequestOp> batch = new ArrayList<>();
        long bytes = 0;
        for (KeyRange part : ReservedKeys.outside(covered)) {
            merge.enter(part, new TargetKeys(calls, part));
            for (RequestOp next = merge.next(); next != null; next = merge.next()) {
                long more = Operations.bytes(next);
                if (bytes + more > room && !batch.isEmpty()) {
                    write(batch, syncing);
                    batch = new ArrayList<>();
                    bytes = 0;
                }
                batch.add(next);
                bytes += more;
            }
        }
        if (!batch.isEmpty()) {
            write(batch, syncing);
        }
    }

    @Override
    public void snapshotCompleted(Position position) {
        moveTo(position);
    }

    @Override
    public void commit(Commit commit, Position position) {
        List<RequestOp> operations = Operations.of(commit);
        if (operations.isEmpty()) {
            progress(position);
            return;
        }
        Checkpoint before = current();
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
            write(part, before.in(CheckpointState.TORN));
        }
        write(parts.get(parts.size() - 1), after);
        complete = position.revision();
    }

    @Override
    public void progress(Position position) {
        Checkpoint stored = current();
        if (stored.state() == CheckpointState.TORN) {
            // Only the rest of the torn commit, which the feed gives next, makes the range whole again.
            return;
        }
        requireNotSyncing(stored);
        if (schedule.isDue(stored.revision(), position.revision())) {
            moveTo(position);
        }
        complete = position.revision();
    }

    /** Nothing waits: every call returned only when its write was done. */
    @Override
    public void settle() {}

    @Override
    public @Nullable Checkpoint checkpoint() {
        return writer.current();
    }

    @Override
    public Revision complete() {
        return complete;
    }

    @Override
    public void close() {}

    private void moveTo(Position position) {
        write(List.of(), current().syncedAt(position));
        complete = position.revision();
    }

    private void write(List<RequestOp> operations, Checkpoint next) {
        writer.write(operations, next);
        schedule.stored();
        listener.written(operations.size());
    }

    private static void requireNotSyncing(Checkpoint checkpoint) {
        if (checkpoint.state() == CheckpointState.SYNCING) {
            throw new IllegalStateException("the feed goes on before its snapshot is complete: " + checkpoint);
        }
    }

    private Checkpoint current() {
        Checkpoint current = writer.current();
        if (current == null) {
            throw new IllegalStateException("mirror " + mirror + " is given data before its snapshot started");
        }
        return current;
    }
}
