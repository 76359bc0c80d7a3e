package io.understudy.mirror.takeover;

import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.lease.LeaseMode;
import io.understudy.mirror.pipeline.MirrorReport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Moves the home back to where it was: lifts the freeze there, mirrors what the new home has into it while clients go on
 * writing, and then hands over in the other direction. Whoever runs it again goes on. One thread.
 *
 * <p>Invariant M40: after a failback both clusters are equal, and the mirror continues with new writes.
 */
public final class Failback {

    private final HandoverOptions options;
    private final HandoverListener listener;
    private final Parties forward;
    private final Parties backward;
    private final OldSource old;
    private final MirrorBack back;
    private final FailbackPreconditions preconditions;

    /**
     * A failback of what a switchover or a failover has moved.
     *
     * @param syncDeadline how long the old source may take to become a copy of the new home
     * @param progress told now and then how far that is
     */
    public Failback(
            MirrorParties clusters,
            HandoverOptions options,
            Duration syncDeadline,
            HandoverListener listener,
            Consumer<MirrorReport> progress) {
        this.options = options;
        this.listener = listener;
        this.forward = clusters.forward();
        this.backward = clusters.backward();
        this.old = new OldSource(forward, backward, options.patience());
        this.preconditions = new FailbackPreconditions(forward, backward, options, old);
        this.back = new MirrorBack(clusters, backward, syncDeadline, progress);
    }

    /**
     * What {@link #run} does, in order.
     *
     * @param found by {@link #survey}
     */
    public List<StepPlan> plan(Survey found) {
        List<StepPlan> plan = new ArrayList<>();
        plan.add(thawing());
        if (found.needed() && preconditions.isHandingOver() && !preconditions.goesOn()) {
            plan.add(lifting());
        }
        plan.add(mirroring());
        plan.addAll(handover().steps());
        plan.add(finishing());
        return plan;
    }

    private StepPlan thawing() {
        return new StepPlan(
                "thaw",
                "lifts the freeze at " + backward.target().shown() + " and has it know where the home is",
                "that clients write to " + backward.source().shown() + " only",
                "freezes it again");
    }

    private StepPlan lifting() {
        return new StepPlan(
                "lift",
                "takes back what an earlier run has done of the hand-over, so that clients can write "
                        + backward.source().shown(),
                "nothing",
                "nothing to undo");
    }

    private StepPlan mirroring() {
        return new StepPlan(
                "mirror",
                "mirrors " + backward.source().shown() + " into it until that is a copy, deleting what is not there"
                        + (backward.sink().leases() == LeaseMode.DROP ? "; keys come back without leases" : ""),
                "that it loses no more than maxPrunePercent of its keys",
                "can't be undone: the old source's own writes since are gone");
    }

    private StepPlan finishing() {
        return new StepPlan(
                "finish",
                "lifts the freeze at " + backward.source().shown()
                        + ", a target again, as soon as the home has moved: its mirror continues",
                "that clients have stopped writing there: what they write from then on will be lost",
                "nothing to undo");
    }

    /**
     * Finds out what would be lost. Changes nothing.
     *
     * @throws TakeOverException there is nothing to fail back
     */
    public Survey survey() {
        return old.survey();
    }

    /**
     * Finds out whether {@link #run} would be refused now, before it does anything. Changes nothing.
     *
     * @param found by {@link #survey}, which may take long where both sides are compared for it
     * @throws TakeOverException it would
     */
    public void check(Survey found) {
        if (!found.needed()) {
            return;
        }
        try {
            preconditions.require(found);
        } catch (TakeOverException e) {
            throw stopped(e, false);
        }
    }

    /**
     * Does what is not done. Idempotent.
     *
     * @throws TakeOverException it can't go on; run it again once what is in the way has gone
     */
    public HandoverReport run() {
        Survey found = movedBack();
        try {
            var unused = handover().run();
        } catch (TakeOverException e) {
            throw stopped(e, true);
        }
        String lost = lost(found);
        // Until the freeze is lifted deletes go on, and after a crash that may be long.
        HandoverReport report = handover().run();
        listener.begins(finishing());
        finish();
        listener.ends(finishing());
        String loss = lost.isEmpty()
                ? report.loss()
                : lost + (report.loss().equals("none") ? "; nothing else" : "; besides: " + report.loss());
        return report.with(loss, List.of("point clients at " + forward.source().shown() + "; the mirror continues"));
    }

    /**
     * What the old source had of its own, in words, empty for nothing: counted once the home has moved, since clients could
     * write there until then, and kept, since the mirror may go on before this has ended.
     */
    private String lost(Survey before) {
        JournalStore store = new JournalStore(backward.target(), backward.mirror());
        Journal journal = requireJournal(store);
        String known = journal.lost();
        if (known != null) {
            return known;
        }
        Survey after = old.lost(journal.verifiedAt() == 0 ? LateCommits.NOW : journal.verifiedAt());
        boolean isTold = after.unknown() == null || before.keys() == 0;
        String lost =
                (isTold ? after : before.butUnknown(after.unknown())).lost().orElse("");
        store.write(journal.edit().lost(lost).build());
        return lost;
    }

    /** @return what was found before */
    private Survey movedBack() {
        boolean begun = false;
        try {
            Survey found = survey();
            if (found.needed()) {
                preconditions.require(found);
                begun = true;
                moveBack();
            }
            return found;
        } catch (TakeOverException e) {
            throw stopped(e, begun);
        }
    }

    private void moveBack() {
        listener.begins(thawing());
        thaw();
        listener.ends(thawing());
        if (!preconditions.needsMirror()) {
            return;
        }
        takeBackWhatIsLeft();
        if (old.isMirroredBack()) {
            back.compareAgain();
        }
        try (MirrorProcess mirror = back.start()) {
            listener.begins(mirroring());
            back.awaitSynced(mirror, options.maxLag());
            listener.ends(mirroring());
            var unused = handover().run();
        }
    }

    /**
     * What has stopped it, and what the operator has to know besides.
     *
     * @param begun whether it had begun to change something, in this run
     */
    private TakeOverException stopped(TakeOverException why, boolean begun) {
        try {
            if (!old.isNeeded()) {
                return why;
            }
            boolean isThawed = old.thawed() != null;
            if (!isThawed && !begun && alsoFrozen().isEmpty()) {
                return why;
            }
            return new TakeOverException(
                    why.getMessage() + ". The home still is " + forward.target().shown()
                            + (isThawed
                                    ? ", but " + backward.target().shown()
                                            + " is not frozen any more: what clients write there will be lost."
                                    : ".")
                            + alsoFrozen() + " Run failback again to continue"
                            + (isThawed ? ", or with --undo, which freezes it again" : ""),
                    why);
        } catch (TakeOverException e) {
            why.addSuppressed(e);
            return why;
        }
    }

    private String alsoFrozen() {
        Journal journal = preconditions.unfinished();
        return journal != null && journal.hasFreeze()
                ? " " + forward.target().shown() + " is frozen meanwhile, and takes no writes of clients."
                : "";
    }

    /**
     * Undoes what was done, until the home has moved: the hand-over back, and the thaw.
     *
     * @return what was undone
     * @throws TakeOverException the home has moved, or there is nothing to undo
     */
    public List<StepPlan> undo() {
        requireUndoable();
        List<StepPlan> undone = new ArrayList<>();
        if (preconditions.isHandingOver()) {
            undone.addAll(handover().undo());
        }
        Journal there = old.thawed();
        if (there != null) {
            listener.begins(freezing());
            Freeze.of(there.freeze(), forward).raise(there);
            listener.ends(freezing());
            undone.add(freezing());
        }
        return undone;
    }

    /** What {@link #undo} would undo, in that order. Changes nothing. */
    public List<StepPlan> undoPlan() {
        requireUndoable();
        List<StepPlan> undone =
                new ArrayList<>(preconditions.isHandingOver() ? handover().undoPlan() : List.of());
        if (old.thawed() != null) {
            undone.add(freezing());
        }
        return undone;
    }

    private void requireUndoable() {
        boolean isAway = homes(forward.target())
                .isAt(TargetCheckpoint.read(forward.target(), forward.mirror()).cluster());
        if (!isAway || !old.isNeeded()) {
            throw new TakeOverException("there is nothing to undo: the home of mirror " + forward.mirror()
                    + " is its " + forward.source().shown()
                    + (isAway ? ". Run failback again, without --undo, to finish that" : "")
                    + ". To move it away again: understudy mirror switchover");
        }
        if (!preconditions.isHandingOver() && old.thawed() == null) {
            throw new TakeOverException("there is nothing to undo: no failback of mirror " + forward.mirror()
                    + " is under way that has lifted or raised a freeze, and the home still is "
                    + forward.target().shown());
        }
    }

    private StepPlan freezing() {
        return new StepPlan(
                "thaw",
                "freezes " + backward.target().shown() + " again",
                "nothing",
                "freezes " + backward.target().shown() + " again");
    }

    private Handover handover() {
        return Handover.switchover(backward, options, listener);
    }

    private Homes homes(PatientCalls cluster) {
        return new Homes(cluster, forward.mirror());
    }

    private void thaw() {
        old.lift();
        homes(forward.target()).read().ifPresent(homes(forward.source())::learn);
    }

    private void finish() {
        if (isFinished()) {
            // By another run meanwhile, and the freeze may be that of another switchover by now.
            return;
        }
        // Once more: somebody may have undone the thaw meanwhile.
        old.lift();
        Journal here = new JournalStore(forward.source(), forward.mirror()).read();
        if (here != null && here.kind() == Journal.Kind.SWITCHOVER) {
            Freeze.of(here.freeze(), backward).lift(here);
        }
        endForward();
        // A mirror that waits for the home goes on as soon as its target knows, and who runs this again finds nothing
        // to do.
        new Resumption(forward, requireJournal(new JournalStore(backward.target(), backward.mirror()))).resume();
        homes(forward.source()).read().ifPresent(homes(forward.target())::learn);
    }

    /** The old target is told last of all; it may have been moved to again since. */
    private boolean isFinished() {
        Home here = homes(forward.source()).read().orElse(null);
        return here != null
                && homes(forward.target())
                        .read()
                        .filter(there -> there.moves() >= here.moves())
                        .isPresent();
    }

    /** Of the hand-over back. */
    private Journal requireJournal(JournalStore store) {
        Journal journal = store.read();
        if (journal == null) {
            throw new TakeOverException("the journal of the way back is gone from "
                    + backward.target().shown() + ": it was deleted");
        }
        return journal;
    }

    /**
     * One that was killed once it had moved the home would hold the mirror's processes off for good, and the next one in
     * that direction would go on where it was.
     */
    private void endForward() {
        JournalStore store = new JournalStore(forward.target(), forward.mirror());
        Journal there = store.read();
        if (there != null && there.isUnfinished()) {
            new ActiveKey(forward).release(there.writer());
            store.write(there.edit().state(Journal.State.DONE).build());
        }
    }

    /** Clients are to go on writing while the mirror back is at work again. */
    private void takeBackWhatIsLeft() {
        if (preconditions.isHandingOver()) {
            listener.begins(lifting());
            var unused = Handover.switchover(backward, options, HandoverListener.NONE)
                    .undo();
            listener.ends(lifting());
        }
    }
}
