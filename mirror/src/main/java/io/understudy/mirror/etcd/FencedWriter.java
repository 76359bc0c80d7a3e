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
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes operations and the checkpoint in one transaction, exactly once: the checkpoint is a {@link FencedKey}, put in
 * each. One thread at a time.
 *
 * <p>Invariant M6: a late write of an earlier sink of the same process is read again, not reported as a target that
 * went back.
 */
final class FencedWriter {

    private final TargetCalls calls;
    private final String mirror;
    private final FencedKey key;
    private final ByteString epochKey;
    private final FencedKey epoch;

    private long createRevision;
    private volatile @Nullable Checkpoint current;
    private volatile long epochRevision;

    FencedWriter(TargetCalls calls, String mirror, EtcdSinkOptions options) {
        this.calls = calls;
        this.mirror = mirror;
        this.epoch = new FencedKey(calls, ReservedKeys.epoch(mirror), options);
        this.key = new FencedKey(calls, ReservedKeys.checkpoint(mirror), options);
        this.epochKey = ReservedKeys.epoch(mirror);
    }

    /** As last read or written; null if there was none. Any thread. */
    @Nullable Checkpoint current() {
        return current;
    }

    /** Target revision at which the first checkpoint was written: keys not written since then were there before. */
    long createRevision() {
        return createRevision;
    }

    /** Target revision at which the checkpoint was last written; 0 when there is none. */
    long modRevision() {
        return key.modRevision();
    }

    /** The cluster that answered last. */
    long targetClusterId() {
        return key.clusterId();
    }

    String shownKey() {
        return key.shown();
    }

    /**
     * Stores the first checkpoint of a mirror and, in the same transaction, the epoch key: see {@link #fence}.
     *
     * @throws SinkException.Fenced as {@link #write}
     */
    void beginEpoch(Checkpoint first) {
        write(List.of(Operations.put(epochKey, ByteString.copyFromUtf8(first.epoch() + " " + first.writer()))), first);
        epochRevision = key.modRevision();
    }

    /**
     * Raises the epoch: compares the epoch key alone, which commits of another writer do not change, so one that is busy
     * cannot prevent it. From then on no transaction of that writer succeeds.
     *
     * @return false if another writer raised it meanwhile
     */
    boolean raiseEpoch(Checkpoint next) {
        var unused = epoch.read();
        ByteString value = ByteString.copyFromUtf8(next.epoch() + " " + next.writer());
        boolean raised = epoch.write(List.of(), value, List.of()) instanceof FencedKey.Outcome.Done;
        epochRevision = raised ? epoch.modRevision() : 0;
        return raised;
    }

    /** Reads the checkpoint, linearizably. Writes from now on build on what was found. */
    @Nullable Checkpoint read() {
        KeyValue found = key.read();
        createRevision = found == null ? 0 : found.getCreateRevision();
        current = found == null ? null : decoded(found);
        return current;
    }

    /**
     * How many bytes of operations one transaction takes beside a checkpoint like {@code checkpoint}, of any state and
     * revision. Any thread.
     */
    long room(Checkpoint checkpoint) {
        return key.room(
                CheckpointCodec.encode(checkpoint.largest()),
                List.of(EtcdMessages.unmodified(epochKey, Long.MAX_VALUE)));
    }

    /**
     * Does {@code operations} and stores {@code next}, or neither. Returns when it is known to be done.
     *
     * @throws SinkException.Fenced another writer has written the checkpoint since, perhaps by a delayed last write
     *     under the same name; nothing was written here
     */
    void write(List<RequestOp> operations, Checkpoint next) {
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
    }

    /** Holds until another writer takes the mirror over. Any thread. */
    Compare epoch() {
        return epochIfBegun().orElseThrow(() -> new IllegalStateException("fence requested outside of an epoch"));
    }

    /** The same; empty before the epoch has begun. Any thread. */
    Optional<Compare> epochIfBegun() {
        long begunAt = epochRevision;
        return begunAt == 0 ? Optional.empty() : Optional.of(EtcdMessages.unmodified(epochKey, begunAt));
    }

    /** For writes beside the checkpoint's: they land only in this writer's epoch. */
    Fence fence() {
        Checkpoint ours = current;
        if (ours == null) {
            throw new IllegalStateException("fence requested outside of an epoch");
        }
        long writtenAt = key.modRevision();
        return new Fence(epoch(), reading -> {
            KeyValue found = key.seenBy(reading);
            return found != null && found.getModRevision() == writtenAt
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

    /** A process that takes over raises the epoch before it writes the checkpoint, which names an earlier one until then. */
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
}
