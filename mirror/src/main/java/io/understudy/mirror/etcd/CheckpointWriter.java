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

    /** Applies {@code operations} and stores {@code next} atomically. Returns when that is confirmed. */
    void write(List<RequestOp> operations, Checkpoint next) {
        writer.write(operations, next);
        schedule.stored();
        listener.written(operations.size());
    }

    /** Does the same for operations on the mirror's own keys, which are not counted. */
    void writeOwn(List<RequestOp> operations, Checkpoint next) {
        writer.write(operations, next);
        schedule.stored();
        listener.written(0);
    }

    /** Stores the first checkpoint of an epoch, see {@link FencedWriter#beginEpoch}. */
    void beginEpoch(Checkpoint first, RequestOp... more) {
        writer.beginEpoch(first, more);
        schedule.stored();
        listener.written(0);
    }

    /** Returns the checkpoint as last read or written; null if absent. */
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

    /** Requests to move the checkpoint as soon as possible. Any thread. */
    void hurry() {
        schedule.hurry();
    }

    /** Whether the checkpoint is to advance although nothing changed. */
    boolean isMoveDue(Revision reached) {
        return schedule.isDue(current().revision(), reached);
    }

    ClusterId target() {
        return new ClusterId(writer.targetClusterId());
    }

    /** Returns the bytes of operations that fit into one transaction beside a checkpoint like {@code checkpoint}. */
    long room(Checkpoint checkpoint) {
        return writer.room(checkpoint);
    }

    /** Returns the target revision of the last checkpoint write. */
    long modRevision() {
        return writer.modRevision();
    }

    /** Returns the fence for other writes, valid until another writer takes over the mirror. */
    Fence fence() {
        return writer.fence();
    }

    /** Returns the target revision of the first checkpoint; keys not written since existed before. */
    long createRevision() {
        return writer.createRevision();
    }
}
