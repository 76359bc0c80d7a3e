package io.understudy.mirror.takeover;

import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Phase;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.takeover.Records.Found;
import io.understudy.mirror.takeover.Rejoin.Claims;

/** Refuses planned moves that cannot succeed, before anything is changed. Only reads. */
final class MoveChecks {

    private final Direction direction;
    private final TakeOverOptions options;
    private final Records from;
    private final Records to;

    MoveChecks(Direction direction, TakeOverOptions options) {
        this.direction = direction;
        this.options = options;
        this.from = direction.recordsFrom();
        this.to = direction.recordsTo();
    }

    /** Finds out whether the move would be refused. */
    void run() {
        Found primary = from.read();
        Found other = to.read();
        if (isMovedTo(other, primary)) {
            requireUnfinished(primary, other);
            return;
        }
        requireMovable(primary, other);
        Lock.requireFree(to);
        Lock.requireFree(from);
        var unused = prepared(primary);
    }

    /** Returns how the primary is closed: as a killed command began, else by the options. */
    Closed prepared(Found primary) {
        requireSameWay(primary);
        Closed begun = primary.move().phase() == Phase.CLOSING ? primary.move().closed() : null;
        if (begun != null) {
            direction.closingFrom().requireNoWriters(begun.way());
            return begun;
        }
        if (options.way() != Way.NONE) {
            direction.closingFrom().requireSpace();
            direction.closingFrom().others().requireReadable();
        }
        return direction.closingFrom().prepare(options.way());
    }

    void requireSameWay(Found primary) {
        Closed begun = primary.move().phase() == Phase.CLOSING ? primary.move().closed() : null;
        if (begun != null && begun.way() == Way.NONE && options.way() != Way.NONE) {
            throw new TakeOverException("a switchover that leaves " + from.shown() + " open was cut short: undo it with"
                    + " --undo before one that closes it, or complete it with --allow-loss");
        }
    }

    void requireMovable(Found primary, Found other) {
        if (!primary.required().cluster().equals(primary.cluster())) {
            throw new TakeOverException(from.shown() + " is not the primary of mirror " + direction.mirror()
                    + "; its record names cluster " + primary.required().cluster());
        }
        // Before the primary is closed for a move that would find none.
        var unused = other.required();
        from.requireRecorded(primary);
        to.requireRecorded(other);
        direction.closingTo().others().requireReadable();
        if (other.isPrimary()) {
            Claims claims = new Claims(primary, other);
            throw new TakeOverException(claims.shown(from.shown(), to.shown()) + "; run " + claims.remedy() + " first");
        }
        Checkpoint checkpoint = other.checkpoint();
        if (checkpoint == null) {
            throw new TakeOverException(to.shown() + " has no checkpoint of mirror " + direction.mirror()
                    + ": it was never mirrored to. Check the name of the mirror, and that it runs");
        }
        if (!checkpoint.scope().equals(direction.scope())) {
            throw new TakeOverException("the checkpoint at " + to.shown() + " has "
                    + checkpoint.scope().shown() + "; configured: "
                    + direction.scope().shown());
        }
        if (!checkpoint.source().equals(primary.cluster())) {
            throw new TakeOverException("the checkpoint has source cluster " + checkpoint.source() + ", but "
                    + from.shown() + " is cluster " + primary.cluster());
        }
        if (checkpoint.state() != CheckpointState.SYNCED) {
            throw new TakeOverException(
                    "the checkpoint is " + checkpoint.state().word() + ": wait until the mirror is synced");
        }
        long lag = primary.revision() - checkpoint.revision().value();
        if (lag > options.maxLag()) {
            throw new TakeOverException(to.shown() + " is " + lag + " revisions behind, more than " + options.maxLag()
                    + ": wait until the mirror has caught up, or set --max-lag");
        }
        if (other.revision() < primary.revision() && !options.acceptSilentWatchers()) {
            throw new TakeOverException(to.shown() + " is at revision " + other.revision() + ", below "
                    + primary.revision() + " of " + from.shown()
                    + ": a watcher that resumes there would miss changes without an error. Seed the target with"
                    + " init-target, or use --accept-silent-watchers if all clients list again");
        }
    }

    static boolean isMovedTo(Found other, Found primary) {
        return other.isPrimary()
                && (!primary.isPrimary() || (other.epoch() > primary.epoch() && other.isLast(Switchover.SWITCHOVER)));
    }

    /** Completing one in the other direction, this one would not fence its moving transaction. */
    void requireSameDirection(Found other) {
        if (other.isPrimary() && other.move().phase() == Phase.CLOSING) {
            throw new TakeOverException(
                    other.isLast(Failover.FAILOVER)
                            ? to.shown() + " " + Rejoin.CLOSED_FOR_FAILOVER
                            : "a move of the primary role of mirror " + direction.mirror() + " from " + to.shown()
                                    + " was cut short: run that command again, or with --undo");
        }
    }

    /** Nothing is left to do for one that was turned. If it was restored since, only a rejoin names its writes. */
    void requireUnfinished(Found primary, Found other) {
        requireSameDirection(other);
        if (other.move().phase() != Phase.STEADY || (!primary.isPrimary() && primary.epoch() < other.epoch())) {
            return;
        }
        throw new TakeOverException(
                primary.isPrimary()
                        ? Turn.restored(from, to, new Claims(other, primary))
                        : to.shown() + " is the primary of mirror " + direction.mirror() + " already"
                                + (other.isLast(Switchover.SWITCHOVER)
                                        ? ". If the command was cut short before its report, its loss is not known;"
                                                + " more than " + LostKeys.HELD
                                                + " lost keys are in understudy-lost-keys-*.txt in the temporary directory"
                                        : ""));
    }
}
