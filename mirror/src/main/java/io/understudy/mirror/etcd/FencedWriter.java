package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes operations and the checkpoint, a {@link FencedKey}, in one transaction exactly once, and reports each write.
 * One thread at a time.
 *
 * <p>Invariant M6: a late write of an earlier sink of the same process is read again, not reported as a target that
 * went back.
 */
final class FencedWriter {

    /** Lead of the source at which the checkpoint advances at once. */
    private static final long MAX_LEAD = 1_000;

    private final TargetCalls calls;
    private final String mirror;
    private final FencedKey key;
    private final ByteString epochKey;
    private final FencedKey epoch;
    private final Duration progressInterval;
    private final SinkListener listener;

    private long createRevision;
    private volatile @Nullable Checkpoint current;
    private volatile long epochRevision;
    private long storedNanos = System.nanoTime();
    /** Revision to advance to as soon as possible; 0 for none. */
    private final AtomicLong hurriesTo = new AtomicLong();

    /** @param listener receives each write */
    FencedWriter(TargetCalls calls, String mirror, EtcdSinkOptions options, SinkListener listener) {
        this.calls = calls;
        this.mirror = mirror;
        this.epoch = new FencedKey(calls, ReservedKeys.epoch(mirror), options);
        this.key = new FencedKey(calls, ReservedKeys.checkpoint(mirror), options);
        this.epochKey = ReservedKeys.epoch(mirror);
        this.progressInterval = options.progressInterval();
        this.listener = listener;
    }

    /** Returns the checkpoint as last read or written; null if absent. Any thread. */
    @Nullable Checkpoint found() {
        return current;
    }

    /** Returns the same, which must be there. */
    Checkpoint current() {
        Checkpoint found = current;
        if (found == null) {
            throw new IllegalStateException("mirror " + mirror + " received data before its snapshot started");
        }
        return found;
    }

    /** Requests to advance the checkpoint to {@code reached} as soon as possible: a take-over waits for it. Any thread. */
    void hurry(Revision reached) {
        hurriesTo.set(reached.value());
    }

    /**
     * Whether the checkpoint is to advance to {@code reached} although nothing changed. Each time is a write, so it is
     * seldom; it is often enough that the next feed has little to skip, and its start is not compacted.
     */
    boolean isMoveDue(Revision reached) {
        long ahead = reached.value() - current().revision().value();
        return ahead >= MAX_LEAD
                || (ahead > 0
                        && (hurriesTo.get() > 0 || System.nanoTime() - storedNanos >= progressInterval.toNanos()));
    }

    /** Returns the target revision of the first checkpoint; keys not written since existed before. */
    long createRevision() {
        return createRevision;
    }

    /** Returns the target revision of the last checkpoint write; 0 if absent. */
    long modRevision() {
        return key.modRevision();
    }

    /** Returns the ID of the cluster that answered last. */
    ClusterId target() {
        return new ClusterId(key.clusterId());
    }

    String shownKey() {
        return key.shown();
    }

    /**
     * Stores a mirror's first checkpoint and the epoch key in one transaction: see {@link #fence}.
     *
     * @param more operations on the mirror's own keys
     * @throws SinkException.Fenced as {@link #write}
     */
    void beginEpoch(Checkpoint first, RequestOp... more) {
        List<RequestOp> operations = new ArrayList<>(List.of(more));
        operations.add(EtcdMessages.put(epochKey, ByteString.copyFromUtf8(first.epoch() + " " + first.writer())));
        writeOwn(operations, first);
        epochRevision = key.modRevision();
    }

    /**
     * Raises the epoch, which fails all later transactions of the previous writer. It compares the epoch key alone,
     * which commits do not change, so a busy writer cannot prevent it.
     *
     * @return false if another writer, or a move of the primary, changed it since {@link #read}
     */
    boolean raiseEpoch(Checkpoint next) {
        ByteString value = ByteString.copyFromUtf8(next.epoch() + " " + next.writer());
        boolean raised = epoch.write(List.of(), value, List.of()) instanceof FencedKey.Outcome.Done;
        epochRevision = raised ? epoch.modRevision() : 0;
        return raised;
    }

    /** Reads the checkpoint and the epoch linearizably. Later writes compare with the result. */
    @Nullable Checkpoint read() {
        var unused = epoch.read();
        KeyValue found = key.read();
        createRevision = found == null ? 0 : found.getCreateRevision();
        current = found == null ? null : decoded(found);
        return current;
    }

    /**
     * Returns the bytes of operations that fit into one transaction beside a checkpoint like {@code checkpoint}. Any
     * thread.
     */
    long room(Checkpoint checkpoint) {
        return key.room(
                CheckpointCodec.encode(checkpoint.largest()),
                List.of(EtcdMessages.unmodified(epochKey, Long.MAX_VALUE)));
    }

    /**
     * Applies {@code operations} and stores {@code next} atomically. Returns when that is confirmed.
     *
     * @throws SinkException.Fenced another writer has written the checkpoint since, perhaps by a delayed last write
     *     under the same name; nothing was written here
     */
    void write(List<RequestOp> operations, Checkpoint next) {
        write(operations, next, operations.size());
    }

    /** Does the same for operations on the mirror's own keys, which are not counted. */
    void writeOwn(List<RequestOp> operations, Checkpoint next) {
        write(operations, next, 0);
    }

    private void write(List<RequestOp> operations, Checkpoint next, int changes) {
        long before = key.modRevision();
        FencedKey.Outcome outcome = key.write(
                operations,
                CheckpointCodec.encode(next),
                epochIfBegun().map(List::of).orElseGet(List::of));
        if (outcome instanceof FencedKey.Outcome.Lost lost) {
            throw notOurs(calls, lost.found(), next);
        }
        if (outcome instanceof FencedKey.Outcome.Unmet) {
            throw notOurs(calls, key.seenBy(calls), next);
        }
        if (before == 0) {
            createRevision = key.modRevision();
        }
        current = next;
        hurriesTo.accumulateAndGet(next.revision().value(), (wanted, written) -> wanted <= written ? 0 : wanted);
        storedNanos = System.nanoTime();
        listener.written(changes);
    }

    /** Returns a compare that holds until another writer takes over the mirror. Any thread. */
    Compare epoch() {
        return epochIfBegun().orElseThrow(() -> new IllegalStateException("fence requested outside of an epoch"));
    }

    /** Returns the same; empty before the epoch has begun. Any thread. */
    Optional<Compare> epochIfBegun() {
        long begunAt = epochRevision;
        return begunAt == 0 ? Optional.empty() : Optional.of(EtcdMessages.unmodified(epochKey, begunAt));
    }

    /** Returns the fence of other writes: they succeed only in this writer's epoch. */
    Fence fence() {
        Checkpoint ours = current();
        long writtenAt = key.modRevision();
        long begunAt = epochRevision;
        return new Fence(epoch(), reading -> {
            // First: a writer that takes over raises the epoch before it writes the checkpoint.
            KeyValue raised = epoch.seenBy(reading);
            KeyValue found = key.seenBy(reading);
            boolean isOurEpoch = raised == null || raised.getModRevision() == begunAt;
            return isOurEpoch && found != null && found.getModRevision() == writtenAt
                    ? new SinkException.Refused("another client changed or deleted the mirror's own keys next to "
                            + key.shown() + " during a snapshot")
                    : notOurs(reading, found, ours);
        });
    }

    private SinkException notOurs(TargetCalls reading, @Nullable KeyValue found, Checkpoint intended) {
        HomeKeys.Known here = new HomeKeys(reading, "target", mirror).read();
        if (here.own() != null && here.own().cluster().equals(here.cluster())) {
            return HomeKeys.moved(here.own());
        }
        String ours = "this mirror is " + intended.writer() + " at epoch " + intended.epoch();
        if (found == null) {
            return new SinkException.Refused("checkpoint at " + key.shown() + " is missing; " + ours
                    + " wrote it at target revision " + key.modRevision()
                    + ". The checkpoint was deleted, or the target was wiped or restored from a backup");
        }
        Checkpoint theirs = decoded(found);
        if (found.getModRevision() < key.modRevision()) {
            return new SinkException.Refused("target revision decreased: checkpoint at " + key.shown()
                    + " has target revision " + found.getModRevision() + "; " + ours + " wrote revision "
                    + key.modRevision() + ". The target was restored from a backup or changed manually");
        }
        return new SinkException.Fenced("fenced: " + raisedBy(reading, theirs) + " (checkpoint at " + key.shown()
                + ", target revision " + found.getModRevision() + "); " + ours
                + ". Two mirrors with the same name are running: stop one of them");
    }

    /** Names the writer of the raised epoch: the checkpoint names an earlier one at first. */
    private String raisedBy(TargetCalls reading, Checkpoint theirs) {
        KeyValue raised = epoch.seenBy(reading);
        String[] value = raised == null
                ? new String[0]
                : raised.getValue().toStringUtf8().split(" ", 2);
        return value.length == 2
                ? value[1] + " took over the mirror at epoch " + value[0]
                : theirs.writer() + " took over the mirror at epoch " + theirs.epoch();
    }

    private Checkpoint decoded(KeyValue found) {
        try {
            return CheckpointCodec.decode(key.shown(), found.getValue());
        } catch (CorruptCheckpointException e) {
            throw new SinkException.Refused(String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * A compare that fails any transaction once another writer has taken over the mirror.
     *
     * @param why explains, by the given calls, a {@code compare} that no longer holds
     */
    record Fence(Compare compare, Function<TargetCalls, SinkException> why) {}
}
