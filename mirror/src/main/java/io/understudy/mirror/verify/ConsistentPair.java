package io.understudy.mirror.verify;

import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.revisions.Moment;
import io.understudy.mirror.verify.Merge.Equality;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Two revisions at which both sides are equal, if the mirror did its work.
 *
 * @param written at which of the target's revisions the checkpoint was written
 * @param created at which of the target's revisions the first checkpoint was written
 */
record ConsistentPair(
        Sides sides,
        ClusterId sourceId,
        Revision sourceRevision,
        ClusterId targetId,
        Revision targetRevision,
        Revision written,
        Revision created) {

    /** The present one. */
    static ConsistentPair now(Sides sides) throws IncomparableException, InterruptedException {
        Moment moment = SyncedMoment.now(sides.mirror(), sides.scope(), sides.target());
        Checkpoint checkpoint = SyncedMoment.checkpoint(moment);
        return new ConsistentPair(
                sides,
                checkpoint.source(),
                checkpoint.revision(),
                moment.target(),
                moment.revision(),
                moment.written(),
                moment.created());
    }

    /** Returns the revision before which target keys may be kept. */
    Revision keptBefore() {
        return sides.keepsForeign() ? created : Revision.ZERO;
    }

    /** Returns the source's entries in target ranges. */
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

    /** Returns the target's entries in ranges. */
    SideReader target(List<KeyRange> ranges) {
        return new SideReader(
                "target", sides.target(), targetId, targetRevision, sides.reading(), ranges, UnaryOperator.identity());
    }

    Equality equality() {
        return new Equality(sides.leases(), keptBefore());
    }
}
