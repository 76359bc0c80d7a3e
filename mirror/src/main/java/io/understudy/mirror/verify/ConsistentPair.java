package io.understudy.mirror.verify;

import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.revisions.CheckpointHistory;
import io.understudy.mirror.revisions.Moment;
import io.understudy.mirror.revisions.TargetUnreadableException;
import io.understudy.mirror.verify.NotComparable.Why;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * Two revisions at which both sides are equal, if the mirror did its work.
 *
 * @param written at which of the target's revisions the checkpoint was written
 * @param keptBefore what the target had before this revision may be kept
 */
record ConsistentPair(
        Sides sides,
        ClusterId sourceId,
        Revision sourceRevision,
        ClusterId targetId,
        Revision targetRevision,
        Revision written,
        Revision keptBefore) {

    /** Parts of one commit follow each other at once, unless the mirror is gone. */
    private static final Duration TORN_PATIENCE = Duration.ofSeconds(2);

    private static final long PAUSE_MILLIS = 50;

    /** The present one. */
    static ConsistentPair now(Sides sides) throws IncomparableException, InterruptedException {
        CheckpointHistory history = new CheckpointHistory(sides.mirror(), sides.target());
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
                throw new IncomparableException(
                        Why.NO_CHECKPOINT, "the target has no checkpoint of mirror " + sides.mirror());
            }
            if (!checkpoint.scope().equals(sides.scope())) {
                throw new IncomparableException(
                        Why.ANOTHER_SCOPE,
                        "the target's checkpoint is of " + checkpoint.scope().shown() + "; asked for is "
                                + sides.scope().shown());
            }
            if (checkpoint.state() == CheckpointState.SYNCED) {
                return new ConsistentPair(
                        sides,
                        checkpoint.source(),
                        checkpoint.revision(),
                        moment.target(),
                        moment.revision(),
                        moment.written(),
                        sides.keepsForeign() ? moment.created() : Revision.ZERO);
            }
            if (checkpoint.state() == CheckpointState.SYNCING) {
                throw new IncomparableException(
                        Why.SYNCING, "the target is being synchronised: it is none of the" + " source's states now");
            }
            if (System.nanoTime() - giveUpAt >= 0) {
                throw new IncomparableException(
                        Why.TORN,
                        "the target holds a part of the commit after revision " + checkpoint.revision()
                                + ", which is too large for one transaction");
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
    }

    /** What the source has in {@code ranges}, given as the target calls them. */
    SideReader source(List<KeyRange> ranges) {
        UnaryOperator<KeyValue> named = sides.scope()::inTarget;
        return new SideReader(
                "source",
                sides.source(),
                sourceId,
                sourceRevision,
                sides.reading(),
                ranges.stream().map(sides.scope()::atSource).toList(),
                named);
    }

    /** What the target has in {@code ranges}. */
    SideReader target(List<KeyRange> ranges) {
        return new SideReader(
                "target", sides.target(), targetId, targetRevision, sides.reading(), ranges, UnaryOperator.identity());
    }

    Equality equality() {
        return new Equality(sides.leases(), keptBefore);
    }
}
