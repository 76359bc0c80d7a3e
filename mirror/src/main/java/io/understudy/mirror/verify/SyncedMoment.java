package io.understudy.mirror.verify;

import io.understudy.etcd.EtcdCluster;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.revisions.CheckpointHistory;
import io.understudy.mirror.revisions.CheckpointHistory.TargetUnreadableException;
import io.understudy.mirror.revisions.Moment;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.verify.NotComparable.Why;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Finds out which of the source's states a target in etcd is. */
final class SyncedMoment {

    /** Parts of one commit follow each other at once, unless the mirror is gone. */
    private static final Duration TORN_PATIENCE = Duration.ofSeconds(2);

    private static final long PAUSE_MILLIS = 50;

    private SyncedMoment() {}

    /** The present one; it has a checkpoint, which is {@code synced}. */
    static Moment now(String mirror, MirrorScope scope, EtcdCluster target)
            throws IncomparableException, InterruptedException {
        CheckpointHistory history = new CheckpointHistory(mirror, target);
        long giveUpAt = System.nanoTime() + TORN_PATIENCE.toNanos();
        while (true) {
            Moment moment;
            try {
                moment = history.now();
            } catch (TargetUnreadableException e) {
                throw new IncomparableException(Why.UNAVAILABLE, String.valueOf(e.getMessage()));
            }
            Checkpoint checkpoint = moment.checkpoint();
            if (checkpoint == null) {
                throw new IncomparableException(Why.NO_CHECKPOINT, "the target has no checkpoint of mirror " + mirror);
            }
            if (!checkpoint.scope().equals(scope)) {
                throw new IncomparableException(
                        Why.ANOTHER_SCOPE,
                        "the target's checkpoint has " + checkpoint.scope().shown() + "; requested: " + scope.shown());
            }
            if (checkpoint.state() == CheckpointState.SYNCED) {
                return moment;
            }
            if (checkpoint.state() == CheckpointState.SYNCING) {
                throw new IncomparableException(
                        Why.SYNCING, "the target is syncing and has no consistent state of the source");
            }
            if (System.nanoTime() - giveUpAt >= 0) {
                throw new IncomparableException(
                        Why.TORN,
                        "the target has part of the commit after revision " + checkpoint.revision()
                                + ", which exceeds one transaction");
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
    }

    /** Returns the checkpoint of a moment returned by {@link #now}. */
    static Checkpoint checkpoint(Moment moment) {
        Checkpoint checkpoint = moment.checkpoint();
        if (checkpoint == null) {
            throw new IllegalArgumentException("revision has no checkpoint");
        }
        return checkpoint;
    }
}
