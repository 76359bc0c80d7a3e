package io.understudy.mirror.takeover;

import com.google.protobuf.TextFormat;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves the home of a mirror's keys from its source to its target. Each step goes into the journal in the target; whoever
 * runs it again, after a crash anywhere, goes on where the journal and the clusters say. One thread.
 *
 * <p>Invariant M37: a switchover that reports no loss lost nothing, resumes after a kill at any step, and is reversible
 * until the primary has moved.
 */
public final class Handover {

    private static final Logger LOG = LoggerFactory.getLogger(Handover.class);

    private static final Duration LAST_WORD = Duration.ofSeconds(3);

    private final Parties parties;
    private final Journal.Kind kind;
    private final HandoverOptions options;
    private final HandoverListener listener;
    private final JournalStore store;

    private Handover(Parties parties, Journal.Kind kind, HandoverOptions options, HandoverListener listener) {
        this.parties = parties;
        this.kind = kind;
        this.options = options;
        this.listener = listener;
        this.store = new JournalStore(parties.target(), parties.mirror());
    }

    /** A planned one: the source is frozen, and nothing is lost. */
    public static Handover switchover(Parties parties, HandoverOptions options, HandoverListener listener) {
        return new Handover(parties, Journal.Kind.SWITCHOVER, options, listener);
    }

    /** One without the source, which is gone. */
    public static Handover failover(Parties parties, HandoverOptions options, HandoverListener listener) {
        return new Handover(parties, Journal.Kind.FAILOVER, options.with(FreezeMode.NONE), listener);
    }

    /** What {@link #run} does, or goes on with, in order; nothing where it is done. */
    public List<StepPlan> plan() {
        Journal found = store.read();
        boolean isDone = found != null && found.state() == Journal.State.DONE && homeHasMoved(found);
        return isDone ? List.of() : steps();
    }

    /** All of them. */
    List<StepPlan> steps() {
        Journal found = store.read();
        FreezeMode freeze = found != null && isGoneOnWith(found) ? found.freeze() : options.freeze();
        return steps(kind, freeze).stream()
                .map(Step::plan)
                .map(plan ->
                        freeze == options.freeze() || !plan.name().equals("freeze") ? plan : begunWith(freeze, plan))
                .toList();
    }

    private static StepPlan begunWith(FreezeMode freeze, StepPlan plan) {
        return new StepPlan(
                plan.name(),
                plan.does() + "; this one was begun with --freeze " + freeze.word() + ", and only --undo ends that",
                plan.needs(),
                plan.undone());
    }

    private boolean isGoneOnWith(Journal found) {
        return found.kind() == kind && found.state() == Journal.State.RUNNING;
    }

    /**
     * Finds out whether {@link #run} would be refused now. Changes nothing.
     *
     * @throws TakeOverException it would
     */
    public void check() {
        Journal journal = due(store.read());
        CheckStep check = new CheckStep(parties, kind, options);
        boolean isDue = journal.state() == Journal.State.RUNNING && !homeHasMoved(journal) && !check.isDone(journal);
        if (isDue) {
            var unused = check.perform(journal);
        }
    }

    /**
     * Takes all steps that are not done. Idempotent.
     *
     * @throws TakeOverException a step can't be taken; the ones before it stay
     */
    public HandoverReport run() {
        Journal journal = ended();
        FreezeFound freeze = freezeOf(journal);
        // What came since a freeze was lifted is no late commit.
        long late = freeze == FreezeFound.LIFTED ? Journal.UNKNOWN : late(journal);
        HandoverReport report = late == Journal.UNKNOWN
                ? new Outcome(parties, journal, freeze, false).report()
                : new Outcome(parties, journal.edit().late(late).build(), freeze, true).report();
        // A failover that ended long ago may not be the last word.
        boolean mayHaveGoneBack =
                journal.kind() == Journal.Kind.FAILOVER && Freeze.isFound(parties.target(), parties.mirror());
        return mayHaveGoneBack
                ? report.with(
                        report.loss() + ". " + parties.to() + " is frozen, or out of space. " + perhapsGoneBack(),
                        report.next())
                : report;
    }

    /** It may have ended long ago, and the source may have been thawed since. */
    private FreezeFound freezeOf(Journal journal) {
        if (!journal.hasFreeze()) {
            return FreezeFound.UNTOLD;
        }
        try {
            Freeze freeze = Freeze.of(journal.freeze(), parties.hurried(LAST_WORD));
            return freeze.isRaised(journal) ? FreezeFound.RAISED : FreezeFound.LIFTED;
        } catch (TakeOverException e) {
            LOG.atDebug()
                    .addKeyValue("mirror", parties.mirror())
                    .addKeyValue("cause", e.getMessage())
                    .log("freeze state of the source unknown");
            return FreezeFound.UNTOLD;
        }
    }

    private Journal ended() {
        Journal journal = begun();
        if (journal.state() == Journal.State.DONE) {
            return journal;
        }
        for (Step step : left(journal)) {
            journal = step.isDone(journal) ? journal : taken(step, journal);
        }
        journal = journal.edit().state(Journal.State.DONE).late(late(journal)).build();
        store.write(journal);
        LOG.atInfo()
                .addKeyValue("mirror", parties.mirror())
                .addKeyValue("from", journal.source())
                .addKeyValue("to", journal.target())
                .addKeyValue("revision", journal.fencedAt())
                .log("home moved");
        return journal;
    }

    /**
     * Undoes what was done; the mirror takes over again when it is started.
     *
     * @return what was undone
     * @throws TakeOverException the home has moved, or there is nothing to undo
     */
    public List<StepPlan> undo() {
        Journal journal = undoing(undoable());
        List<StepPlan> undone = new ArrayList<>();
        for (Step step : backwards(journal)) {
            boolean isBegun = step.isBegun(journal);
            if (isBegun) {
                listener.begins(step.plan());
            }
            // What was not begun as far as can be seen may still have been.
            journal = step.undo(journal).without(step.plan().name());
            store.write(journal);
            if (isBegun) {
                listener.ends(step.plan());
                undone.add(step.plan());
            }
        }
        store.write(journal.edit().state(Journal.State.UNDONE).build());
        LOG.atInfo().addKeyValue("mirror", parties.mirror()).log("switchover or failover undone");
        return undone;
    }

    /**
     * What {@link #undo} would undo, in that order. Changes nothing.
     *
     * @throws TakeOverException the home has moved, or there is nothing to undo
     */
    public List<StepPlan> undoPlan() {
        Journal journal = undoable();
        return backwards(journal).stream()
                .filter(step -> step.isBegun(journal))
                .map(Step::plan)
                .toList();
    }

    private Journal undoable() {
        Journal journal = store.read();
        if (journal != null && journal.state() != Journal.State.UNDONE) {
            requireUnmoved(journal);
        }
        if (journal == null || !journal.isUnfinished()) {
            throw new TakeOverException("there is nothing to undo: no switchover or failover of mirror "
                    + parties.mirror() + " is under way in " + parties.target().shown());
        }
        return journal;
    }

    /** The steps that a hand-over may have taken, the last first. */
    private List<Step> backwards(Journal journal) {
        List<Step> steps = new ArrayList<>(steps(undoneAs(journal), journal.freeze()));
        Collections.reverse(steps);
        return steps;
    }

    /** Whoever else is at it can't move the home from here on. */
    private Journal undoing(Journal before) {
        Journal journal = before.edit().state(Journal.State.UNDOING).build();
        store.write(journal);
        if (homeHasMoved(journal)) {
            store.write(before);
        }
        requireUnmoved(journal);
        return journal;
    }

    private void requireUnmoved(Journal journal) {
        if (homeHasMoved(journal)) {
            throw new TakeOverException("the home of mirror " + parties.mirror() + " has moved to "
                    + parties.target().shown() + ", which clients may have written since: use failback");
        }
    }

    private Journal begun() {
        Journal found = store.read();
        Journal journal = due(found);
        if (journal.equals(found) && journal.isUnfinished()) {
            store.renew(journal);
        }
        return journal;
    }

    /** As found, or a new one that isn't stored before its check is done: one that is refused leaves nothing behind. */
    private Journal due(@Nullable Journal found) {
        boolean hasMoved = found != null && found.state() != Journal.State.UNDONE && homeHasMoved(found);
        if (found != null && hasMoved) {
            return moved(found);
        }
        Journal unfinished = found != null && found.isUnfinished() ? found : null;
        if (unfinished != null && kind == Journal.Kind.SWITCHOVER) {
            requireRunning(unfinished);
        }
        if (unfinished != null && isGoneOnWith(unfinished)) {
            return unfinished;
        }
        TargetCheckpoint checkpoint = TargetCheckpoint.read(parties.target(), parties.mirror());
        ClusterId source = checkpoint.checkpoint().source();
        String writer = kind.name().toLowerCase(Locale.ROOT) + "/"
                + ProcessHandle.current().pid() + "/"
                + UUID.randomUUID().toString().substring(0, 8);
        Journal journal = Journal.begun(kind, writer, Instant.now(), source, checkpoint.cluster(), options.freeze());
        // A source that was lost during a switchover is still frozen when it comes back.
        return unfinished == null ? journal : journal.following(unfinished);
    }

    /** The one that has moved the home here, whose last steps may be left to do. */
    private Journal moved(Journal found) {
        if (found.state() == Journal.State.DONE && hasGoneBack()) {
            throw new TakeOverException("the home of mirror " + parties.mirror() + " has gone back to "
                    + parties.source().shown() + ": run failback again to finish that");
        }
        if (kind == Journal.Kind.FAILOVER && found.state() == Journal.State.DONE && found.kind() != kind) {
            throw new TakeOverException("the home of mirror " + parties.mirror() + " is "
                    + parties.target().shown() + " already, by the switchover of " + found.startedAt()
                    + ": there is nothing to fail over. " + perhapsGoneBack());
        }
        return found;
    }

    private String perhapsGoneBack() {
        return "A failback that was under way may have moved it since, which only "
                + parties.source().shown() + " could report, and may have frozen "
                + parties.target().shown() + ": \"etcdctl alarm disarm\" lifts an alarm, and key \""
                + TextFormat.escapeBytes(ReservedKeys.freeze(parties.mirror()))
                + "\" there, if there is one, holds what is to be granted again";
    }

    /** As far as the source tells: a failback that was killed may not have told the target. */
    private boolean hasGoneBack() {
        long moves = new Homes(parties.target(), parties.mirror())
                .read()
                .map(Home::moves)
                .orElse(0L);
        try {
            return new Homes(parties.source().with(LAST_WORD), parties.mirror())
                    .read()
                    .filter(there -> there.moves() > moves)
                    .isPresent();
        } catch (TakeOverException e) {
            LOG.atDebug()
                    .addKeyValue("mirror", parties.mirror())
                    .addKeyValue("cause", e.getMessage())
                    .log("home stored in the source unknown");
            return false;
        }
    }

    private void requireRunning(Journal unfinished) {
        if (unfinished.state() == Journal.State.UNDOING) {
            throw new TakeOverException("a hand-over of mirror " + parties.mirror()
                    + " is being taken back: run this with --undo to finish that");
        }
        if (unfinished.kind() == Journal.Kind.FAILOVER) {
            throw new TakeOverException("a failover of mirror " + parties.mirror()
                    + " is under way: run that again to finish it, or with --undo to take it back");
        }
    }

    /** With a freeze, it began as a switchover. */
    private static Journal.Kind undoneAs(Journal journal) {
        return journal.freeze() == FreezeMode.NONE ? journal.kind() : Journal.Kind.SWITCHOVER;
    }

    private Journal taken(Step step, Journal before) {
        StepPlan plan = step.plan();
        listener.begins(plan);
        Journal prepared = step.prepare(before);
        if (!prepared.equals(before)) {
            store.write(prepared);
        }
        Journal after = step.perform(prepared).with(plan.name());
        listener.taken(plan);
        store.write(after);
        listener.ends(plan);
        LOG.atInfo()
                .addKeyValue("mirror", parties.mirror())
                .addKeyValue("kind", kind)
                .addKeyValue("step", plan.name())
                .log("step completed");
        return after;
    }

    private boolean homeHasMoved(Journal journal) {
        return new HomeStep(parties, kind).isDone(journal);
    }

    /** Without the source, nobody relies on it. */
    private long late(Journal journal) {
        if (journal.kind() == Journal.Kind.FAILOVER) {
            return 0;
        }
        AtomicLong late = new AtomicLong();
        String untold = new LateCommits(parties, journal.target(), parties.marked(), options.patience())
                .forEach(journal.source(), journal.fencedAt(), LateCommits.NOW, commit -> late.incrementAndGet());
        return untold == null ? late.get() : Journal.UNKNOWN;
    }

    /** Once the home has moved, the source isn't needed for the rest. */
    private List<Step> left(Journal journal) {
        return homeHasMoved(journal) ? List.of(new ReleaseStep(parties)) : steps(kind, journal.freeze());
    }

    private List<Step> steps(Journal.Kind as, FreezeMode freeze) {
        CheckStep check = new CheckStep(parties, as, options);
        FenceStep fence = new FenceStep(parties, options.patience());
        HomeStep home = new HomeStep(parties, as);
        ReleaseStep release = new ReleaseStep(parties);
        if (as == Journal.Kind.FAILOVER) {
            return List.of(check, fence, home, release);
        }
        return List.of(
                check,
                new FreezeStep(parties, Freeze.of(freeze, parties)),
                new DrainStep(parties, options.drainDeadline()),
                new VerifyStep(parties),
                fence,
                home,
                release);
    }
}
