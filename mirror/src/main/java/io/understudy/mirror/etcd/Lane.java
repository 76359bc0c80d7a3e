package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.mirror.checkpoint.LaneProgress;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.KeyRange;
import java.util.List;

/**
 * Writes a part of what a synchronisation writes: each transaction once, together with a progress key of its own. One
 * thread, its own.
 */
final class Lane {

    private final TargetCalls calls;
    private final FencedKey key;
    private final Fence fence;
    private final SinkListener listener;
    private final long room;
    private LaneProgress progress;

    /** @param writtenAt target revision at which {@code progress} was stored for this lane */
    Lane(
            String mirror,
            TargetCalls calls,
            EtcdSinkOptions options,
            Fence fence,
            SinkListener listener,
            LaneProgress progress,
            long writtenAt) {
        this.calls = calls;
        this.key = new FencedKey(calls, key(mirror, progress.lane()), options);
        this.fence = fence;
        this.listener = listener;
        this.progress = progress;
        key.writtenAt(writtenAt);
        LaneProgress largest = new LaneProgress(
                progress.epoch(),
                progress.lane(),
                ByteString.copyFrom(new byte[LaneProgress.SHOWN_KEY_BYTES]),
                Long.MAX_VALUE,
                progress.path());
        this.room = key.room(largest.encoded(), List.of(fence.compare()));
    }

    /** Where a lane stores how far it is. */
    static ByteString key(String mirror, int lane) {
        return ReservedKeys.of(mirror, "lane/" + lane);
    }

    /** Where all of them do. */
    static KeyRange keys(String mirror) {
        return ReservedKeys.all(mirror, "lane/");
    }

    /** Bytes of operations that one transaction takes. */
    long room() {
        return room;
    }

    /** For reads of this lane. */
    TargetCalls calls() {
        return calls;
    }

    /**
     * Does all of {@code operations}; returns when it is known to be done.
     *
     * @throws SinkException.Fenced another writer has taken the mirror over; nothing was written
     */
    void write(List<RequestOp> operations) {
        LaneProgress next = progress.after(operations.size(), Operations.key(operations.get(operations.size() - 1)));
        FencedKey.Outcome outcome = key.write(operations, next.encoded(), List.of(fence.compare()));
        if (!(outcome instanceof FencedKey.Outcome.Done)) {
            throw fence.why().apply(calls);
        }
        progress = next;
        listener.written(operations.size());
    }
}
