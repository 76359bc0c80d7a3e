package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.mirror.checkpoint.LaneProgress;
import io.understudy.mirror.etcd.FencedWriter.Fence;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.FeedStart.UnfinishedSnapshot;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Writes a part of a synchronisation: each transaction once, with its lane's progress key. One thread. */
final class SyncWriter {

    /** Transaction size with the lowest measured etcd time per put; other clients wait little. */
    private static final long MOST_BYTES = 512 << 10;

    private static final long LEAST_BYTES = 16 << 10;

    /** Duration from which the next transaction is smaller, so that lease keep-alives are not delayed. */
    private static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final TargetCalls calls;
    private final FencedKey key;
    private final Fence fence;
    private final SinkListener listener;
    private final CopyRest rest;
    private long most = MOST_BYTES;
    private final long room;
    private LaneProgress progress;

    /** @param writtenAt target revision of the stored {@code progress} */
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

    /** Returns the progress key of a lane. */
    static ByteString key(String mirror, int lane) {
        return ReservedKeys.of(mirror, "lane/" + lane);
    }

    /** Returns the bytes of operations of the next transaction. */
    long room() {
        return Math.min(most, room);
    }

    /** Returns the calls for reads of this lane. */
    TargetCalls calls() {
        return calls;
    }

    /** Requires that the target accepts a put of this size; writes nothing. */
    void requireFits(RequestOp put) {
        if (Operations.bytes(put) > room) {
            key.requireAccepted(List.of(put), progress.largest().encoded(), List.of(fence.compare()));
        }
    }

    /**
     * Applies all of {@code operations}; returns when that is confirmed.
     *
     * @param copied the part of the snapshot that the target then holds; null for none
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

    /**
     * The part of a snapshot that the target does not hold yet. Thread-safe.
     *
     * <p>Invariant M41: a resumed snapshot ends with the source's state at its revision, and reads again only what the
     * target may lack.
     */
    static final class CopyRest {

        private final @Nullable UnfinishedSnapshot begun;
        private List<KeyRange> rest;

        /** @param pin null if no later feed can continue the snapshot */
        CopyRest(@Nullable Position pin, List<KeyRange> rest) {
            this.begun = pin == null ? null : new UnfinishedSnapshot(pin, rest);
            this.rest = rest;
        }

        /** The target equals the snapshot in {@code range}. */
        synchronized void copied(KeyRange range) {
            rest = without(rest, range);
        }

        /**
         * Returns the rest for a later feed; null if none can continue the snapshot.
         *
         * @param range additional copied range; null for none
         */
        synchronized @Nullable UnfinishedSnapshot after(@Nullable KeyRange range) {
            if (begun == null) {
                return null;
            }
            List<KeyRange> left = new ArrayList<>(range == null ? rest : without(rest, range));
            while (left.size() > 1 && !LaneProgress.fits(left)) {
                // More than is left may be compared again.
                KeyRange first = left.remove(0);
                left.set(0, new KeyRange(first.from(), left.get(0).to()));
            }
            return LaneProgress.fits(left) ? new UnfinishedSnapshot(begun.pin(), left) : begun;
        }

        private static List<KeyRange> without(List<KeyRange> ranges, KeyRange copied) {
            return ranges.stream()
                    .flatMap(range -> range.without(copied).stream())
                    .toList();
        }
    }
}
