package io.understudy.cluster.run;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.membership.Membership.OutcomeUnknownException;
import io.understudy.cluster.membership.Membership.RefusedException;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Plan.Planned;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.run.OperationTimeouts.Deadline;
import io.understudy.cluster.run.StepWatch.StepFailedException;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes one step at a time on a fresh observation, and awaits its reported effect.
 *
 * <p>It keeps no state: another run resumes where this one was interrupted.
 *
 * <p>One thread.
 */
public final class Runner {

    private static final Logger LOG = LoggerFactory.getLogger(Runner.class);

    private static final String DOWNGRADE_ENDED = "downgrade-ended";

    /** Rules that an election, a restart or a busy machine may violate for a moment. */
    private static final Set<String> PASSING = Set.of(
            "quorum-held",
            "quorum-survives",
            "etcd-adds",
            "leader-known",
            "leader-healthy-voter",
            "peer-url-served",
            "storage-versions-equal",
            DOWNGRADE_ENDED,
            "start-time-known",
            "observable");

    /**
     * Errors of etcd that pass soon, without any effect. Members were connected for less than five seconds, or a
     * learner fell behind again.
     */
    private static final List<String> NOT_YET = List.of("unhealthy cluster", "in sync with leader");

    /** Exceeds any plan; a limit in case another client undoes each step. */
    private static final int MOST_STEPS = 100;

    private static final Refusal UNSEEN =
            new Refusal("observable", "no member responds", "Check the endpoints, and that the members run");

    /** Whether a step may be taken. */
    @FunctionalInterface
    public interface Permit {
        Permission check(Step step, ClusterFacts facts) throws InterruptedException;
    }

    /**
     * The answer to a {@link Permit}.
     *
     * @param denial why no step may be taken; empty if it may
     * @param isNew whether others could change the cluster until now, so that it is observed again first
     */
    public record Permission(Optional<String> denial, boolean isNew) {
        public static final Permission GRANTED = new Permission(Optional.empty(), false);
    }

    private final ClusterObserver observer;
    private final StepWork work;
    private final Rollback rollback;
    private final OperationTimeouts patience;
    private final RunListener listener;
    private final Permit permit;
    /** Failures of steps that the goal may skip. */
    private final Map<Step, String> passed = new LinkedHashMap<>();

    /** Labels of members that steps of this run removed. */
    private final Set<String> removed = new LinkedHashSet<>();

    private String begun = "";
    private String noted = "";
    /** The place of the member that this run added or started; null for none. */
    private @Nullable MemberSpec newcomer;

    public Runner(ClusterObserver observer, StepWork work, OperationTimeouts patience, RunListener listener) {
        this(observer, work, patience, listener, (step, facts) -> Permission.GRANTED);
    }

    /** @param permit required for each step, and for each attempt to undo one */
    public Runner(
            ClusterObserver observer, StepWork work, OperationTimeouts patience, RunListener listener, Permit permit) {
        this.observer = observer;
        this.work = work;
        this.rollback = new Rollback(observer, work, patience, permit);
        this.patience = patience;
        this.listener = listener;
        this.permit = permit;
    }

    /** Runs until the goal is reached or fails. Irreversible steps are limited to those of its first plan. */
    public Outcome run(Goal goal) throws InterruptedException {
        return run(goal, null);
    }

    /**
     * Runs until the goal is reached or fails.
     *
     * @param agreed the confirmed plan: no other irreversible step is taken; null for the first plan
     */
    public Outcome run(Goal goal, @Nullable List<Planned> agreed) throws InterruptedException {
        @Nullable List<Planned> bound = agreed;
        Deadline settled = Deadline.in(patience.settle());
        boolean acted = false;
        @Nullable Step lastDone = null;
        @Nullable Step awaited = null;
        Deadline silent = settled;
        Set<Step> attempted = new HashSet<>();
        int taken = 0;
        while (true) {
            Optional<ClusterFacts> seen = look();
            work.endFirstStarts();
            Plan plan = seen.isPresent() ? goal.plan(seen.get()) : new Plan.Refused(List.of(UNSEEN));
            if (plan instanceof Plan.Done done) {
                return passed.isEmpty()
                        ? new Outcome.Reached(done.why())
                        : new Outcome.Failed(String.join("; ", passed.values()), false);
            }
            if (plan instanceof Plan.Refused refused) {
                // An election, or a member that is just back: what our own step shook is soon over.
                boolean mayPass = acted ? isPassing(refused.refusals()) : isAwaited(refused.refusals());
                if (settled.isOver() || !mayPass) {
                    return new Outcome.Refused(refused.refusals());
                }
                note("waiting: " + refused.refusals().get(0).why());
                settled.pause(patience.between());
                continue;
            }
            List<Planned> steps = ((Plan.Steps) plan).steps();
            bound = bound == null ? steps : bound;
            Planned next = steps.get(0);
            if (next.isFinal() && bound.stream().noneMatch(each -> each.step().equals(next.step()))) {
                if (settled.isOver()) {
                    return new Outcome.Refused(List.of(new Refusal(
                            "as-planned",
                            "the current state requires a step that is not in the plan: " + next.action(),
                            "Check the cluster (understudy cluster status) and run the command again")));
                }
                note("waiting: the current state differs from the plan");
                settled.pause(patience.between());
                continue;
            }
            if (mayRespond(next.step(), seen.orElseThrow())) {
                silent = next.step().equals(awaited) ? silent : Deadline.in(patience.settle());
                awaited = next.step();
                if (!silent.isOver()) {
                    note("waiting: a member that runs does not respond");
                    silent.pause(patience.between());
                    continue;
                }
            }
            awaited = null;
            if (next.step().equals(lastDone)) {
                return new Outcome.Failed(
                        mayRespond(next.step(), seen.orElseThrow())
                                ? "the member was restarted and does not respond: " + next.action()
                                : next.step().inVain(),
                        false);
            }
            Permission permission = permit.check(next.step(), seen.orElseThrow());
            if (permission.denial().isPresent()) {
                return new Outcome.Failed(permission.denial().get(), false);
            }
            if (permission.isNew()) {
                continue;
            }
            if (taken >= MOST_STEPS) {
                return new Outcome.Failed(
                        "goal not reached after " + taken + " steps: another process changes the cluster", false);
            }
            acted = true;
            try {
                if (take(next, seen.orElseThrow())) {
                    settled = Deadline.in(patience.settle());
                    taken++;
                    lastDone = next.step() instanceof Step.CatchUp ? null : next.step();
                    attempted.clear();
                } else if (attempted.add(next.step())) {
                    // The attempt may have taken longer than that itself.
                    settled = Deadline.in(patience.settle());
                    settled.pause(patience.between());
                } else if (settled.isOver()) {
                    throw new StepFailedException("step not possible within "
                            + patience.settle().toSeconds() + " s (" + next.action() + "); " + noted);
                } else {
                    settled.pause(patience.between());
                }
            } catch (StepFailedException e) {
                String failure = e.getMessage() + startedAgain(next.step(), seen.orElseThrow());
                // Planned again, it would fail for ever.
                if (!goal.passes(next.step()) || passed.put(next.step(), failure) != null) {
                    return fail(goal, next, failure);
                }
                listener.notes("failed: " + failure);
            }
        }
    }

    /** Whether the step restarts a process that may only be slow, as one that has just started. */
    private boolean mayRespond(Step step, ClusterFacts facts) {
        return step instanceof Step.Restart restart
                && facts.member(restart.id()).filter(MemberFacts::isHealthy).isEmpty()
                && !work.isGone(restart.member());
    }

    /** Takes a step and returns whether it took effect; if not, observe and plan again. */
    private boolean take(Planned next, ClusterFacts facts) throws StepFailedException, InterruptedException {
        long began = System.nanoTime();
        if (!next.action().equals(begun)) {
            begun = next.action();
            listener.begins(next);
            LOG.atInfo()
                    .addKeyValue("step", next.action())
                    .addKeyValue("before", next.before())
                    .addKeyValue("after", next.after())
                    .log("step started");
        }
        boolean isKnown = true;
        if (next.step() instanceof Step.AddLearner || next.step() instanceof Step.Join) {
            newcomer = next.step().place().orElseThrow();
        }
        try {
            work.begin(next.step(), facts);
        } catch (RefusedException e) {
            if (NOT_YET.stream().noneMatch(e.etcdMessage()::contains)) {
                throw new StepFailedException("etcd rejected the step (" + next.action() + "): " + e.getMessage());
            }
            note("waiting: etcd reports \"" + e.etcdMessage() + "\"");
            return false;
        } catch (OutcomeUnknownException e) {
            note("checking the outcome: " + e.getMessage());
            isKnown = false;
        } catch (RuntimeException e) {
            // Of a machine: the place can't be used, or does not obey.
            throw new StepFailedException("step failed (" + next.action() + "): " + e.getMessage());
        }
        if (next.step() instanceof Step.Remove remove) {
            removed.add(remove.label());
        }
        try {
            new StepWatch(observer, work, patience, listener).await(next.step(), facts);
        } catch (StepFailedException e) {
            if (isKnown) {
                throw e;
            }
            return false;
        }
        if (!isKnown && (next.step() instanceof Step.Compact || next.step() instanceof Step.Defragment)) {
            // No response of members shows it; both may be repeated.
            return false;
        }
        try {
            work.finish(next.step(), facts);
        } catch (RuntimeException e) {
            // The cluster has changed, whatever becomes of the process and its data.
            LOG.atWarn()
                    .addKeyValue("step", next.action())
                    .addKeyValue("cause", e.getMessage())
                    .log("removed member not retired");
            listener.notes(
                    "warning: the removed member was not stopped, or its data was not set aside: " + e.getMessage());
        }
        Duration took = Duration.ofNanos(System.nanoTime() - began);
        LOG.atInfo()
                .addKeyValue("step", next.action())
                .addKeyValue("ms", took.toMillis())
                .log("step completed");
        listener.ended(next, took);
        begun = "";
        noted = "";
        return true;
    }

    /**
     * Starts the member of a failed restart with another program again, as configured. Returns the result, as text;
     * empty for other steps.
     */
    private String startedAgain(Step step, ClusterFacts facts) throws InterruptedException {
        if (!(step instanceof Step.Restart restart) || !restart.isChanged() || !work.isGone(restart.member())) {
            return "";
        }
        Step start = new Step.Start(restart.member());
        try {
            work.begin(start, facts);
            new StepWatch(observer, work, patience, listener).await(start, facts);
            return "; " + restart.member().name() + " was started again as configured";
        } catch (StepFailedException | RefusedException | OutcomeUnknownException | RuntimeException e) {
            return "; " + restart.member().name() + " does not start as configured either: " + e.getMessage();
        }
    }

    private Outcome fail(Goal goal, Planned next, String why) throws InterruptedException {
        LOG.atWarn()
                .addKeyValue("step", next.action())
                .addKeyValue("cause", why)
                .log("step failed");
        // An earlier learner is not removed, however slow it is.
        if (!goal.undoes(next.step()) || (next.step() instanceof Step.CatchUp && newcomer == null)) {
            return new Outcome.Failed(why, false);
        }
        return undo(next.step(), why);
    }

    /** Removes a learner that an interrupted run added or started. Its goal is not reached. */
    public Outcome abort() throws InterruptedException {
        String why = "interrupted";
        @Nullable MemberSpec added = newcomer;
        if (added == null) {
            return new Outcome.Failed(why, false);
        }
        Optional<ClusterFacts> seen = look();
        if (seen.isEmpty()) {
            return new Outcome.Failed(
                    why + "; " + added.name() + " may still be a member: run the command again", false);
        }
        Optional<MemberFacts> left = seen.get().at(added).filter(member -> !member.isVoter());
        return left.isPresent() ? undo(new Step.Join(added, left.get().id()), why) : new Outcome.Failed(why, false);
    }

    private Outcome undo(Step step, String why) throws InterruptedException {
        listener.notes("undoing: " + why);
        Optional<String> kept = rollback.undo(step);
        return kept.isEmpty()
                ? new Outcome.Failed(
                        why + "; it was removed again"
                                + (removed.isEmpty() ? "" : "; no longer a member: " + String.join(", ", removed)),
                        removed.isEmpty())
                : new Outcome.Failed(why + "; it is still a member: " + kept.get(), false);
    }

    private Optional<ClusterFacts> look() throws InterruptedException {
        try {
            return Optional.of(observer.observe(patience.look()));
        } catch (UnobservableException e) {
            LOG.atDebug().addKeyValue("cause", e.getMessage()).log("cluster not observable");
            return Optional.empty();
        }
    }

    /** Reports each reason once. */
    private void note(String what) {
        if (!noted.equals(what)) {
            noted = what;
            LOG.atInfo().addKeyValue("cause", what).log("step waiting");
            listener.notes(what);
        }
    }

    /** Whether etcd resolves the refusals by itself, so that a run waits for it before its first step, too. */
    public static boolean isAwaited(List<Refusal> refusals) {
        return refusals.stream().allMatch(refusal -> refusal.rule().equals(DOWNGRADE_ENDED));
    }

    private static boolean isPassing(List<Refusal> refusals) {
        return refusals.stream().allMatch(refusal -> PASSING.contains(refusal.rule()));
    }
}
