package io.understudy.cluster.supervise;

import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.Machines.MachineBusyException;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.membership.Membership.OutcomeUnknownException;
import io.understudy.cluster.membership.Membership.RefusedException;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.Preflight;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.run.StepWork;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.shape.Shape.Limits;
import io.understudy.cluster.shape.Shape.SupervisorSettings;
import io.understudy.cluster.supervise.SupervisorState.Event;
import io.understudy.cluster.supervise.SupervisorState.Event.Outcome;
import io.understudy.cluster.supervise.elect.Candidacy;
import io.understudy.cluster.supervise.elect.Candidacy.PauseNotAcknowledgedException;
import io.understudy.cluster.supervise.elect.SteadyClock;
import io.understudy.cluster.supervise.elect.SteadyClock.ClockTime;
import io.understudy.cluster.supervise.rule.Decision;
import io.understudy.cluster.supervise.rule.History;
import io.understudy.cluster.supervise.rule.Place;
import io.understudy.cluster.supervise.rule.Rules;
import io.understudy.cluster.supervise.rule.Situation;
import io.understudy.vocabulary.ElectionState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Observes the cluster continually, decides by {@link Rules}, and takes single steps while active.
 *
 * <p>It keeps only durations that the cluster does not report: after a kill at any point, it or another one resumes
 * from an observation.
 *
 * <p>Has its own thread; all methods may be called from any other.
 *
 * <p>Invariant DP26: a change that a killed supervisor began is completed by another, and without a quorum no member
 * list is changed.
 */
final class Supervisor implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Supervisor.class);

    /** Pause after a failure. */
    private static final Duration AFTER_FAILURE = Duration.ofSeconds(2);

    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(15);

    private final ClusterObserver observer;
    private final StepWork work;
    private final Machines machines;
    private final Inventory inventory;
    private final Candidacy candidacy;
    private final Shape shape;
    private final Limits limits;
    private final SupervisorSettings settings;
    private final Journal journal;
    private final Consumer<ClusterFacts> whileActive;
    /** Used by the thread only. */
    private final OpenOrders orders;

    private final SteadyClock clock = new SteadyClock();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread thread = new Thread(this::run, "supervisor");

    private volatile Optional<Situation> seen = Optional.empty();
    private volatile Optional<Instant> lookedAt = Optional.empty();
    /** Reason of a pause that is not stored in the cluster yet, or cannot be. */
    private volatile Optional<String> pausedHere = Optional.empty();

    /** Used by the thread only, like the next fields. */
    private History history = History.NONE;

    private Optional<Instant> failedAt = Optional.empty();

    /** Time since which no member has responded. */
    private Optional<Instant> silentSince = Optional.empty();

    /** Time since which it is active and sees too little to act. */
    private Optional<Instant> blindSince = Optional.empty();

    /** Why a second learner is not added; empty if it may be. */
    private Optional<String> unprovenLimit = Optional.empty();

    private Decision decided = new Decision.Waiting("start", "", "");

    /** @param whileActive receives each observation while this supervisor is active; must not take long */
    Supervisor(
            ClusterObserver observer,
            StepWork work,
            Machines machines,
            Candidacy candidacy,
            Shape shape,
            Limits limits,
            SupervisorSettings settings,
            Journal journal,
            Consumer<ClusterFacts> whileActive) {
        this.observer = observer;
        this.work = work;
        this.machines = machines;
        this.inventory = new Inventory(
                machines.places(),
                machines::isRunning,
                place -> machines.programFailure(place, UnaryOperator.identity())
                        .or(() -> machines.setAsideFailure(place)),
                place -> seen.flatMap(last -> work.obstacles().outdated(place, last.facts()))
                        .map(Refusal::toString),
                machines::owner,
                clock);
        this.candidacy = candidacy;
        this.shape = shape;
        this.limits = limits;
        this.settings = settings;
        this.journal = journal;
        this.orders = new OpenOrders(journal);
        this.whileActive = whileActive;
        thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    SupervisorState state() {
        return new SupervisorState(
                candidacy.name(),
                candidacy.standing(),
                paused(),
                shape,
                limits,
                seen.map(Situation::facts),
                seen.map(Situation::findings).orElse(Map.of()),
                lookedAt,
                settings.pace(),
                journal.last(),
                journal.events());
    }

    private Optional<String> paused() {
        return pausedHere.or(candidacy::paused);
    }

    private Optional<String> startsPaused() {
        return pausedHere.or(() -> candidacy.startsPaused(limits.dead()));
    }

    /**
     * Pauses all supervisors of the cluster; returns when no step is in progress.
     *
     * @throws PauseNotAcknowledgedException the pause could not be stored, or was not acknowledged in time
     */
    void pause(String why) throws PauseNotAcknowledgedException, InterruptedException {
        pausedHere = Optional.of(why);
        try {
            candidacy.pause(why);
            pausedHere = Optional.empty();
        } catch (PauseNotAcknowledgedException e) {
            if (e.isStored()) {
                pausedHere = Optional.empty();
            }
            throw e;
        }
    }

    /**
     * Ends the pause of any supervisor.
     *
     * @throws PauseNotAcknowledgedException the end could not be stored; this one is still paused, too
     */
    void resume() throws PauseNotAcknowledgedException, InterruptedException {
        candidacy.resume();
        pausedHere = Optional.empty();
    }

    /** Ends after the current step; waits for it a few seconds at most. Idempotent. */
    @Override
    public void close() {
        closed.countDown();
        try {
            thread.join(CLOSE_DEADLINE.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try {
            boolean acted = false;
            while (!closed.await(acted ? 0 : settings.interval().toMillis(), TimeUnit.MILLISECONDS)) {
                acted = lookedAndActed();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean lookedAndActed() throws InterruptedException {
        try {
            boolean acted = lookAndAct();
            candidacy.observed();
            return acted;
        } catch (RuntimeException e) {
            LOG.atError().setCause(e).log("observation failed; retrying");
            return false;
        }
    }

    /** Returns whether a step was taken, so that another observation is due at once. */
    private boolean lookAndAct() throws InterruptedException {
        // Processes are read first: one started meanwhile is a member without a process, not the reverse.
        List<Place> places = inventory.places(seen.map(Situation::freePlaces).orElse(List.of()).stream()
                .map(Place::spec)
                .toList());
        work.endFirstStarts();
        try {
            if (!orders.areUnderWay(clock.instant())) {
                candidacy.betweenSteps();
            }
            ClockTime at = clock.now();
            // A glance reads no membership and makes no linearizable read, so no change is based on it.
            boolean isUnsuspicious =
                    decided instanceof Decision.Settled && !(candidacy.standing() instanceof ElectionState.Unknown);
            Optional<ClusterFacts> glance = isUnsuspicious ? observer.glance(settings.patience()) : Optional.empty();
            if (glance.isPresent()) {
                Situation situation = situation(glance.get(), at, places);
                if (Rules.decide(situation) instanceof Decision.Settled settled) {
                    return record(settled, Outcome.NONE, "");
                }
                at = clock.now();
            }
            Situation situation = situation(observer.observe(settings.patience()), at, places);
            Decision decision = Rules.decide(situation);
            decided = decision;
            return decision instanceof Decision.Change change
                    ? act(change, situation, at)
                    : record(decision, Outcome.NONE, "");
        } catch (UnobservableException e) {
            lookedAt = Optional.of(Instant.now());
            decided = new Decision.Waiting("unobservable", "", "");
            stepDownIfBlind(true);
            silentSince = e.isSilence() ? silentSince.or(() -> Optional.of(clock.instant())) : Optional.empty();
            Optional<Decision.Change> start = startUnobserved(places, String.valueOf(e.getMessage()));
            return start.isPresent()
                    ? take(start.get(), seen.orElseThrow().facts())
                    : record(
                            new Decision.Waiting("unobservable", String.valueOf(e.getMessage()), "nothing is changed"),
                            Outcome.NONE,
                            seen.isPresent()
                                    ? ""
                                    : "not observed since this supervisor started, so its members are not started");
        }
    }

    /**
     * Returns the start of an own member after {@code shape.deadTime} without a response. Each stopped member is
     * started once; none before the first observation.
     */
    private Optional<Decision.Change> startUnobserved(List<Place> places, String observed) {
        Instant since = silentSince.orElse(Instant.MAX);
        if (seen.isEmpty()
                || startsPaused().isPresent()
                || since.isAfter(clock.instant().minus(limits.dead()))) {
            return Optional.empty();
        }
        ClusterFacts last = seen.get().facts();
        return places.stream()
                .filter(place -> Rules.isStartable(place, history, since))
                .filter(place -> hasMembersData(place.spec(), last))
                .findFirst()
                .map(place -> new Decision.Change(
                        "restart",
                        observed,
                        "the process of " + place.name() + " is started with the data it has",
                        new Step.Start(place.spec()),
                        last.quorum(),
                        last.quorum()));
    }

    /** Whether the data belong to a member as last observed. Another cluster may have replaced an unobserved one. */
    private boolean hasMembersData(MemberSpec place, ClusterFacts last) {
        try {
            return machines.owner(place)
                    .filter(owner -> owner.cluster().equals(last.cluster())
                            && last.member(owner.member()).isPresent())
                    .isPresent();
        } catch (RuntimeException e) {
            LOG.atDebug().addKeyValue("machine", place.name()).setCause(e).log("owner of the data not readable");
            return false;
        }
    }

    private Situation situation(ClusterFacts now, ClockTime at, List<Place> places) {
        history = history.after(now, at.steady(), places, limits, settings.pace());
        Situation situation = new Situation(now, history, places, proven(now), limits);
        seen = Optional.of(situation);
        silentSince = Optional.empty();
        lookedAt = Optional.of(Instant.now());
        stepDownIfBlind(!situation.isConclusive());
        if (candidacy.standing() instanceof ElectionState.Active) {
            whileActive.accept(now);
        }
        return situation;
    }

    /** Lets another supervisor act that may see more. Under an alarm, which refuses leases, none could be elected. */
    private void stepDownIfBlind(boolean isBlind) {
        if (!isBlind) {
            candidacy.endRest();
        }
        Instant now = clock.instant();
        boolean isReplaceable = candidacy.standing() instanceof ElectionState.Active
                && seen.filter(last -> !last.facts().alarms().isEmpty()).isEmpty();
        blindSince = isBlind && isReplaceable ? blindSince.or(() -> Optional.of(now)) : Optional.empty();
        if (blindSince.filter(since -> !since.plus(limits.dead()).isAfter(now)).isPresent()
                && !orders.areUnderWay(now)) {
            candidacy.stepDown();
        }
    }

    /** Returns the shape with the limit of learners that all members are known to have. */
    private Shape proven(ClusterFacts now) {
        int learners = now.learners().size();
        if (learners == 0 || learners >= shape.maxLearners()) {
            return shape;
        }
        Optional<String> unproven;
        try {
            unproven = work.obstacles().learnerLimits(now).map(Refusal::toString);
        } catch (RuntimeException e) {
            unproven = Optional.of(String.valueOf(e.getMessage()));
        }
        if (!unproven.equals(unprovenLimit)) {
            unproven.ifPresent(why -> LOG.atWarn().addKeyValue("cause", why).log("no second learner is added"));
            unprovenLimit = unproven;
        }
        return unproven.isPresent() ? shape.withMaxLearners(1) : shape;
    }

    private boolean act(Decision.Change change, Situation situation, ClockTime at) throws InterruptedException {
        Optional<String> pause = change.step() instanceof Step.Start ? startsPaused() : paused();
        if (pause.isPresent()) {
            return record(change, Outcome.PAUSED, pause.get());
        }
        if (failedAt.isPresent() && failedAt.get().plus(AFTER_FAILURE).isAfter(clock.instant())) {
            return false;
        }
        ClusterFacts now = situation.facts();
        // The start of an own process changes no member list: it needs neither an election nor a quorum.
        if (change.step() instanceof Step.Start) {
            return take(change, now);
        }
        ElectionState standing = candidacy.standing();
        if (!(standing instanceof ElectionState.Active)) {
            Optional<Decision.Change> start = Rules.startUnreplaced(situation);
            if (start.isPresent()) {
                return take(start.get(), now);
            }
            // The leader renews leases: while it is stuck, no supervisor stays active.
            Optional<Decision.Change> move = Rules.moveFromStuckLeader(situation);
            if (!(standing instanceof ElectionState.Unknown) || move.isEmpty()) {
                return record(change, Outcome.NOT_ACTIVE, inactive(now));
            }
            return actConfirmed(move.get(), situation, at, false);
        }
        return actConfirmed(change, situation, at, true);
    }

    /** Acts after a linearizable read: of this supervisor's lease, or at least of pauses. */
    private boolean actConfirmed(Decision.Change change, Situation situation, ClockTime at, boolean isActive)
            throws InterruptedException {
        ClusterFacts now = situation.facts();
        List<Refusal> refusals = Preflight.check(change.step(), now);
        if (!refusals.isEmpty()) {
            return record(change, Outcome.REFUSED, refusals.get(0).toString());
        }
        if (!(isActive ? candidacy.mayAct() : candidacy.isUnpaused())) {
            return record(
                    change,
                    Outcome.NOT_ACTIVE,
                    "the cluster did not confirm that "
                            + (isActive ? "this supervisor is active" : "supervisors are not paused"));
        }
        // After a suspend of the machine another supervisor may have acted.
        if (at.until(clock.now()).compareTo(settings.freshness()) > 0
                || (isActive && !(candidacy.standing() instanceof ElectionState.Active))) {
            return record(change, Outcome.NOT_ACTIVE, "this supervisor was suspended after its observation");
        }
        return take(change, now);
    }

    private String inactive(ClusterFacts now) {
        ElectionState standing = candidacy.standing();
        return standing instanceof ElectionState.Unknown && !now.alarms().isEmpty()
                ? standing + "; alarm " + String.join(", ", now.alarms())
                        + ": no supervisor can be elected, so members are not changed until it is disarmed"
                : standing.toString();
    }

    private boolean take(Decision.Change change, ClusterFacts now) throws InterruptedException {
        Step step = change.step();
        History unordered = history;
        history = history.ordered(step, clock.instant());
        try {
            work.begin(step, now);
            failedAt = Optional.empty();
            boolean unused = record(change, Outcome.DONE, "");
            return true;
        } catch (RefusedException e) {
            // Nothing has happened: it need not be waited for.
            history = unordered;
            failedAt = Optional.of(clock.instant());
            return record(change, Outcome.FAILED, String.valueOf(e.getMessage()));
        } catch (OutcomeUnknownException e) {
            failedAt = Optional.of(clock.instant());
            return record(change, Outcome.UNKNOWN, String.valueOf(e.getMessage()));
        } catch (MachineBusyException e) {
            CompletableFuture<?> end = e.end();
            if (end == null) {
                // The step has not been taken: it need not be waited for.
                history = unordered;
                return record(change, Outcome.FAILED, String.valueOf(e.getMessage()));
            }
            orders.add(change, end, clock.instant());
            return record(change, Outcome.ORDERED, String.valueOf(e.getMessage()));
        } catch (RuntimeException e) {
            failedAt = Optional.of(clock.instant());
            LOG.atError().addKeyValue("step", step.text()).setCause(e).log("step failed");
            return record(change, Outcome.FAILED, String.valueOf(e.getMessage()));
        }
    }

    private boolean record(Decision decision, Outcome outcome, String detail) {
        journal.record(new Event(Instant.now(), decision, outcome, detail));
        return false;
    }
}
