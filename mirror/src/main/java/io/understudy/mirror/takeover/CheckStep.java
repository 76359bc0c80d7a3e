package io.understudy.mirror.takeover;

import io.understudy.etcd.ReadIndex;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import java.time.Duration;
import java.util.Optional;

/** Finds out whether the home can move at all. Changes nothing. */
record CheckStep(Parties parties, Journal.Kind kind, HandoverOptions options) implements Step {

    private static final Duration LAST_WORD = Duration.ofSeconds(3);

    @Override
    public StepPlan plan() {
        return new StepPlan(
                "check",
                "reads the checkpoint of mirror " + parties.mirror() + " in "
                        + parties.target().shown() + forced(),
                kind == Journal.Kind.SWITCHOVER
                        ? "synced, at most " + options.maxLag() + " revisions behind, the revision of " + parties.to()
                                + " not below that of " + parties.from()
                        : "synced, and a source that doesn't answer" + (options.force() ? ", but for --force" : ""),
                "changes nothing");
    }

    /** What is taken by force, if it is worse than old. */
    private String forced() {
        if (kind != Journal.Kind.FAILOVER || !options.force()) {
            return "";
        }
        CheckpointState state;
        try {
            state = TargetCheckpoint.read(parties.target(), parties.mirror())
                    .checkpoint()
                    .state();
        } catch (TakeOverException e) {
            // To be told when the step is taken: the plan is also what an undo goes by.
            return "";
        }
        return state == CheckpointState.SYNCED
                ? ""
                : "; it is " + state.word() + ", so what is there is no state that the source ever had, and is taken by"
                        + " force";
    }

    @Override
    public boolean isDone(Journal journal) {
        // A source that was gone may be back by the time that this is run again.
        return journal.has("check") && (kind == Journal.Kind.SWITCHOVER || journal.fencedAt() > 0);
    }

    @Override
    public Journal perform(Journal journal) {
        TargetCheckpoint found = TargetCheckpoint.read(parties.target(), parties.mirror());
        Checkpoint checkpoint = found.checkpoint();
        requireScope(checkpoint, parties);
        if (checkpoint.state() != CheckpointState.SYNCED && !(kind == Journal.Kind.FAILOVER && options.force())) {
            throw new TakeOverException(
                    "the checkpoint is " + checkpoint.state().word() + ": what "
                            + parties.target().shown() + " holds is no state that the source ever had. "
                            + (kind == Journal.Kind.FAILOVER
                                    ? "--force takes it nevertheless"
                                    : "Wait until the mirror is synced"));
        }
        if (kind == Journal.Kind.FAILOVER) {
            requireGone();
        } else {
            // Only reads: what can't be frozen is refused before anything is stored.
            var unused = Freeze.of(journal.freeze(), parties).prepare(journal);
            requireClose(found);
        }
        return journal;
    }

    /** What was mirrored is what would be. */
    static void requireScope(Checkpoint checkpoint, Parties parties) {
        if (!checkpoint.scope().equals(parties.scope())) {
            throw new TakeOverException(
                    "the checkpoint is of " + checkpoint.scope().shown() + "; configured is "
                            + parties.scope().shown());
        }
    }

    private void requireClose(TargetCheckpoint found) {
        ReadIndex head = parties.source().head();
        Checkpoint checkpoint = found.checkpoint();
        if (!head.clusterId().equals(checkpoint.source())) {
            throw new TakeOverException("the checkpoint is of source cluster " + checkpoint.source() + ", but "
                    + parties.source().shown() + " is " + head.clusterId());
        }
        long lag = head.revision().value() - checkpoint.revision().value();
        if (lag > options.maxLag()) {
            throw new TakeOverException(parties.to() + " is " + lag + " revisions behind, more than " + options.maxLag()
                    + ": wait until the mirror has caught up (is it running?), or allow more with --max-lag");
        }
        if (found.revision() < head.revision().value() && !options.acceptSilentWatchers()) {
            throw silentWatchers(parties, found.revision(), head.revision().value());
        }
    }

    /** Why it is refused that watches would wait at {@code parties.target()} in silence. */
    static TakeOverException silentWatchers(Parties parties, long there, long here) {
        return new TakeOverException(parties.to() + " is at revision " + there + ", below " + here + " of "
                + parties.from() + ": a client that continues to watch there from a revision that it had seen would"
                + " hear nothing until " + parties.to() + " has passed it, and never of what it missed. "
                + (parties.isBack() ? "Accept" : "Make the target with init-target, or accept")
                + " it with --accept-silent-watchers if all clients list again");
    }

    private void requireGone() {
        if (!options.force() && answers().isPresent()) {
            throw new TakeOverException(parties.source().shown()
                    + " answers: a switchover loses nothing, a failover may. --force fails over nevertheless");
        }
    }

    private Optional<ReadIndex> answers() {
        try {
            return Optional.of(parties.source().with(LAST_WORD).head());
        } catch (TakeOverException e) {
            return Optional.empty();
        }
    }
}
