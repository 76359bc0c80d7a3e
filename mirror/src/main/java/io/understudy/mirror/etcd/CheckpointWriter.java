package io.understudy.mirror.etcd;

import io.etcd.jetcd.api.RequestOp;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.sink.ProgressSchedule;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Revision;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes operations together with the checkpoint, and reports each write. One thread at a time. */
final class CheckpointWriter {

    private final String mirror;
    private final FencedWriter writer;
    private final ProgressSchedule schedule;
    private final SinkListener listener;

    CheckpointWriter(String mirror, FencedWriter writer, ProgressSchedule schedule, SinkListener listener) {
        this.mirror = mirror;
        this.writer = writer;
        this.schedule = schedule;
        this.listener = listener;
    }

    /** Does {@code operations} and stores {@code next}, or neither. Returns when it is known to be done. */
    void write(List<RequestOp> operations, Checkpoint next) {
        writer.write(operations, next);
        schedule.stored();
        listener.written(operations.size());
    }

    /** The same with operations that are no part of the copy, but on the mirror's own keys. */
    void writeOwn(List<RequestOp> operations, Checkpoint next) {
        writer.write(operations, next);
        schedule.stored();
        listener.written(0);
    }

    /** Stores the first checkpoint of an epoch, see {@link FencedWriter#beginEpoch}. */
    void beginEpoch(Checkpoint first) {
        writer.beginEpoch(first);
        schedule.stored();
        listener.written(0);
    }

    /** As last read or written; null if there is none. */
    @Nullable Checkpoint found() {
        return writer.current();
    }

    Checkpoint current() {
        Checkpoint current = writer.current();
        if (current == null) {
            throw new IllegalStateException("mirror " + mirror + " received data before its snapshot started");
        }
        return current;
    }

    /** The checkpoint is to be moved as soon as possible. Any thread. */
    void hurry() {
        schedule.hurry();
    }

    /** Whether the checkpoint is to be moved there though nothing has happened since. */
    boolean isMoveDue(Revision reached) {
        return schedule.isDue(current().revision(), reached);
    }

    /** The cluster that is written to. */
    ClusterId target() {
        return new ClusterId(writer.targetClusterId());
    }

    /** How many bytes of operations one transaction takes beside a checkpoint like {@code checkpoint}, of any state and revision. */
    long room(Checkpoint checkpoint) {
        return writer.room(checkpoint);
    }

    /** Target revision at which the checkpoint was last written. */
    long modRevision() {
        return writer.modRevision();
    }

    /** For writes beside the checkpoint's: they succeed only until another writer takes the mirror over. */
    Fence fence() {
        return writer.fence();
    }

    /** Target revision at which the first checkpoint was written: keys not written since then were there before. */
    long createRevision() {
        return writer.createRevision();
    }
}
