package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.mirror.checkpoint.LaneProgress;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.KeyRange;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Writes a part of what a synchronisation writes: each transaction once, together with a progress key of its own. One
 * thread, its own.
 */
final class SyncWriter {

    /**
     * Measured: etcd takes the least time for each put in transactions of about this size, and others that use the target
     * wait no longer than for a large value.
     */
    private static final long MOST_BYTES = 512 << 10;

    private static final long LEAST_BYTES = 16 << 10;

    /** A transaction that takes longer holds up what keeps leases alive: the next one is smaller. */
    private static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final TargetCalls calls;
    private final FencedKey key;
    private final Fence fence;
    private final SinkListener listener;
    private final CopyRest rest;
    private long most = MOST_BYTES;
    private final long room;
    private LaneProgress progress;

    /** @param writtenAt target revision at which {@code progress} was stored for this lane */
    SyncWriter(
            String mirror,
            TargetCalls calls,
            EtcdSinkOptions options,
            Fence fence,
            SinkListener listener,
            LaneProgress progress,
            CopyRest rest,
            long writtenAt) {
        this.calls = calls;
        this.key = new FencedKey(calls, key(mirror, progress.lane()), options);
        this.fence = fence;
        this.listener = listener;
        this.progress = progress;
        this.rest = rest;
        key.writtenAt(writtenAt);
        this.room = key.room(progress.largest().encoded(), List.of(fence.compare()));
    }

    /** Where a lane stores how far it is. */
    static ByteString key(String mirror, int lane) {
        return ReservedKeys.of(mirror, "lane/" + lane);
    }

    /** Bytes of operations that the next transaction takes. */
    long room() {
        return Math.min(most, room);
    }

    /** For reads of this lane. */
    TargetCalls calls() {
        return calls;
    }

    /**
     * Does all of {@code operations}; returns when it is known to be done.
     *
     * @param copied what of the snapshot the target holds from then on; null for nothing new
     * @throws SinkException.Fenced another writer has taken the mirror over; nothing was written
     */
    void write(List<RequestOp> operations, @Nullable KeyRange copied) {
        ByteString last =
                operations.isEmpty() ? progress.last() : Operations.key(operations.get(operations.size() - 1));
        LaneProgress next = progress.after(operations.size(), last, rest.after(copied));
        long began = System.nanoTime();
        FencedKey.Outcome outcome = key.write(operations, next.encoded(), List.of(fence.compare()));
        if (!(outcome instanceof FencedKey.Outcome.Done)) {
            throw fence.why().apply(calls);
        }
        most = System.nanoTime() - began > SLOW_NANOS
                ? Math.max(LEAST_BYTES, most / 2)
                : Math.min(MOST_BYTES, most + LEAST_BYTES);
        progress = next;
        if (copied != null) {
            rest.copied(copied);
        }
        listener.written(operations.size());
    }
}
