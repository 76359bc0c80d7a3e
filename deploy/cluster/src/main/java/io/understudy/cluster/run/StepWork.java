package io.understudy.cluster.run;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.machine.DataOwner;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.Machines.MachineBusyException;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.membership.Membership;
import io.understudy.cluster.membership.Membership.OutcomeUnknownException;
import io.understudy.cluster.membership.Membership.RefusedException;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.run.OperationTimeouts.Deadline;
import io.understudy.etcd.EtcdVersion;
import io.understudy.vocabulary.Counted;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Executes a step once: sends its requests to the cluster, starts and stops processes. */
public final class StepWork {

    private static final Logger LOG = LoggerFactory.getLogger(StepWork.class);

    private static final Duration STOP = Duration.ofSeconds(30);
    private static final Duration BETWEEN = Duration.ofMillis(50);

    private final Membership membership;
    private final Machines machines;
    private final Optional<LearnerLimit> limit;
    /** Members that this run started without data. */
    private final Set<MemberSpec> started = new HashSet<>();

    private final Set<Step> performed = new HashSet<>();
    /** Places with a first start that could not be ended; each is logged once. */
    private final Set<MemberSpec> unended = new HashSet<>();

    public StepWork(Membership membership, Machines machines) {
        this.membership = membership;
        this.machines = machines;
        this.limit = Optional.empty();
    }

    /** Creates the work that adds a second learner only if all members have the limit. */
    public StepWork(Membership membership, Machines machines, LearnerLimit limit) {
        this.membership = membership;
        this.machines = machines;
        this.limit = Optional.of(limit);
    }

    /**
     * The limit of learners ({@code --max-learners}) that all members need.
     *
     * @param isConfirmed whether the operator confirms it for members that are not visible here
     */
    public record LearnerLimit(int value, boolean isConfirmed) {}

    /**
     * Sends the request or order, without waiting for its effect.
     *
     * @param facts the cluster as just observed
     */
    public void begin(Step step, ClusterFacts facts)
            throws RefusedException, OutcomeUnknownException, InterruptedException {
        if (step instanceof Step.Start) {
            performed.add(step);
        }
        // A start that fails names its reason, so that the program is run once only.
        Optional<Refusal> obstacle = step instanceof Step.Join ? foreignData(step, facts) : obstacle(step, facts);
        if (obstacle.isPresent()) {
            throw new IllegalStateException(obstacle.get().toString());
        }
        if (step instanceof Step.AddLearner add) {
            if (machines.isInUse(add.member())) {
                part(() -> machines.retire(add.member()));
            }
            membership.addLearner(add.member().peerUrls());
        } else if (step instanceof Step.Promote promote) {
            facts.member(promote.id())
                    .flatMap(each -> machines.place(each.name()))
                    .ifPresent(place -> part(() -> machines.letGo(place)));
            membership.promote(promote.id());
        } else if (step instanceof Step.MoveLeader move) {
            membership.moveLeader(move.from(), move.id());
        } else if (step instanceof Step.Remove remove) {
            membership.remove(remove.id());
        } else if (step instanceof Step.Compact compact) {
            membership.compact(compact.revision());
        } else if (step instanceof Step.Defragment defragment) {
            membership.defragment(defragment.id());
        } else if (step instanceof Step.Disarm disarm) {
            membership.disarm(disarm.alarm());
        } else if (step instanceof Step.Downgrade downgrade) {
            membership.downgrade(downgrade.version());
        } else if (step instanceof Step.UpdatePeerUrls update) {
            membership.updatePeerUrls(update.id(), update.peerUrls());
        } else {
            order(step, facts);
        }
        if (step instanceof Step.Compact || step instanceof Step.Defragment || step instanceof Step.Restart) {
            performed.add(step);
        }
    }

    /** Gives a preparing order of a step. */
    private static void part(Runnable order) {
        try {
            order.run();
        } catch (MachineBusyException e) {
            throw e.ofPart();
        }
    }

    /** Returns why the step cannot be taken on its machine. */
    public Optional<Refusal> obstacle(Step step, ClusterFacts facts) {
        return programFailure(step)
                .or(() -> outdated(step, facts))
                .or(() -> moveFailure(step))
                .or(() -> setAsideFailure(step))
                .or(() -> foreignData(step, facts))
                .or(() -> step instanceof Step.AddLearner ? learnerLimits(facts) : Optional.empty());
    }

    /**
     * Returns why members may have different limits of learners. Since etcd 3.6 each checks its own when it applies an
     * added learner, so that their member lists would differ for good. The first learner is within any limit.
     */
    public Optional<Refusal> learnerLimits(ClusterFacts facts) {
        boolean isLimited = facts.members().stream()
                .flatMap(member -> member.answer().stream())
                .anyMatch(answer -> answer.version().maxLearnersConfigurable());
        return isLimited && !facts.learners().isEmpty()
                ? limit.flatMap(required -> learnerLimits(facts, required))
                : Optional.empty();
    }

    private Optional<Refusal> learnerLimits(ClusterFacts facts, LearnerLimit required) {
        if (facts.learners().size() >= required.value()) {
            return Optional.of(new Refusal(
                    "learner-slot-free",
                    "the cluster has " + Counted.of(facts.learners().size(), "learner", "learners")
                            + ", the configured limit is " + required.value(),
                    "Promote or remove one first, or set shape.maxLearners and restart all members (understudy cluster"
                            + " roll); without configured machines, specify the limit with --max-learners"));
        }
        String others = facts.members().stream()
                .filter(MemberFacts::hasStarted)
                .flatMap(member -> otherLimit(member, required).stream())
                .collect(joining(", "));
        return others.isEmpty()
                ? Optional.empty()
                : Optional.of(new Refusal(
                        "learner-limits-equal",
                        "another learner needs the same --max-learners for all members, " + required.value() + "; "
                                + others,
                        "Restart the members with this limit (understudy cluster roll), and confirm it for members that"
                                + " are not managed here with --max-learners " + required.value()));
    }

    private Optional<String> otherLimit(MemberFacts member, LearnerLimit required) {
        Optional<String> found = machines.place(member.name()).flatMap(machines::maxLearners);
        if (found.isEmpty()) {
            return required.isConfirmed() ? Optional.empty() : Optional.of("that of " + member.name() + " is unknown");
        }
        return found.filter(value -> !value.equals(String.valueOf(required.value())))
                .map(value -> member.name() + " has " + value);
    }

    private Optional<Refusal> moveFailure(Step step) {
        return step instanceof Step.Migrate migrate
                ? machines.moveFailure(migrate.from(), migrate.to())
                        .or(() -> machines.programFailure(migrate.to(), UnaryOperator.identity()))
                        .map(why -> new Refusal(
                                "data-movable",
                                "the data of " + migrate.from().name() + " cannot be moved to "
                                        + migrate.to().name() + ": " + why,
                                "Correct that, or replace without --migrate-data"))
                : Optional.empty();
    }

    /** Returns why a member could not start without data. Called before another one is removed for it. */
    private Optional<Refusal> setAsideFailure(Step step) {
        boolean isEmptied =
                step instanceof Step.AddLearner || (step instanceof Step.Join join && !isRunning(join.member()));
        return step.place().filter(unused -> isEmptied).flatMap(place -> machines.setAsideFailure(place)
                .map(why -> new Refusal(
                        "data-directory-free",
                        "earlier data of " + place.name() + " cannot be set aside: " + why,
                        "Configure another data directory (machines." + place.name()
                                + ".dataDirectory), such as one below it")));
    }

    /** Returns why a member could not start. Called before it is stopped, or another one is removed for it. */
    private Optional<Refusal> programFailure(Step step) {
        if (step instanceof Step.Restart restart) {
            return machines.programFailure(restart.member(), configured -> changed(configured, restart))
                    .map(why -> programRuns(
                            restart.member(),
                            "start again",
                            why,
                            restart.program().isPresent()));
        }
        return step instanceof Step.Join join
                ? machines.programFailure(join.member(), UnaryOperator.identity())
                        .map(why -> programRuns(join.member(), "start", why, false))
                : Optional.empty();
    }

    /** Returns why the configured program is unsuitable, if the step starts a member with it. */
    private Optional<Refusal> outdated(Step step, ClusterFacts facts) {
        boolean isConfigured = step instanceof Step.AddLearner
                || step instanceof Step.Start
                || step instanceof Step.Join
                || (step instanceof Step.Restart restart && restart.program().isEmpty());
        return (step instanceof Step.Migrate migrate
                        ? Optional.of(migrate.to())
                        : step.place().filter(unused -> isConfigured))
                .flatMap(place -> outdated(place, facts));
    }

    /**
     * Returns why a member could not, or must not, start with its configured program: etcd ends in a cluster of a later
     * version, and a new member of a later minor version would be an unchecked upgrade. One that has started keeps its
     * program, as during an upgrade.
     */
    public Optional<Refusal> outdated(MemberSpec place, ClusterFacts facts) {
        EtcdVersion cluster = facts.clusterVersion();
        EtcdVersion newest = Stream.concat(Stream.of(cluster), newVersions(place, facts))
                .max(Comparator.naturalOrder())
                .orElse(cluster);
        EtcdVersion program = newest.equals(EtcdVersion.UNKNOWN) ? newest : machines.programVersion(place);
        if (program.equals(EtcdVersion.UNKNOWN)) {
            return Optional.empty();
        }
        if (!program.atLeast(cluster.major(), cluster.minor(), 0)) {
            return Optional.of(new Refusal(
                    "program-current",
                    "the configured program of " + place.name() + " is etcd " + program + ", the cluster has version "
                            + cluster,
                    "Set machines." + place.name() + ".program to the program of the other members"));
        }
        return newVersions(place, facts).findAny().isEmpty() || newest.atLeast(program.major(), program.minor(), 0)
                ? Optional.empty()
                : Optional.of(new Refusal(
                        "upgrade-checked",
                        "the configured program of " + place.name() + " is etcd " + program
                                + ", and the voting members run " + newest + " at most",
                        "Set machines." + place.name() + ".program to the program of the other members, or upgrade the"
                                + " cluster first (understudy cluster roll)"));
    }

    /** Returns the versions that a member without data may have; none restricts one that has started. */
    private static Stream<EtcdVersion> newVersions(MemberSpec place, ClusterFacts facts) {
        return facts.of(place).filter(MemberFacts::hasStarted).isPresent()
                ? Stream.of()
                : facts.healthyVoters().stream()
                        .flatMap(voter -> voter.answer().stream())
                        .map(MemberAnswer::version);
    }

    private static Refusal programRuns(MemberSpec member, String what, String why, boolean isByFlag) {
        return new Refusal(
                "program-runs",
                member.name() + " could not " + what + ": " + why,
                "Install its program, or correct "
                        + (isByFlag ? "--program" : "machines." + member.name() + ".program"));
    }

    private Optional<Refusal> foreignData(Step step, ClusterFacts facts) {
        return dataInUse(step, facts).or(() -> otherData(step, facts));
    }

    /** Rejects a start with data of another member. etcd itself rejects unreadable ones. */
    private Optional<Refusal> otherData(Step step, ClusterFacts facts) {
        if (!(step instanceof Step.Start || step instanceof Step.Restart || step instanceof Step.Migrate)) {
            return Optional.empty();
        }
        MemberSpec place = step.place()
                .filter(from ->
                        !(step instanceof Step.Migrate) || machines.owner(from).isPresent())
                .orElseGet(() -> ((Step.Migrate) step).to());
        return machines.owner(place)
                .filter(owner -> !owner.cluster().equals(facts.cluster())
                        || facts.member(owner.member())
                                .filter(member -> step.subject()
                                        .map(member.id()::equals)
                                        .orElseGet(() -> member.name().equals(place.name()) || isAt(member, place)))
                                .isEmpty())
                .map(owner -> new Refusal(
                        "data-directory-free",
                        "the data directory of " + place.name() + " has data of " + owner + ", not of " + place.name()
                                + " of cluster " + facts.cluster(),
                        "Correct machines." + place.name() + ".dataDirectory; if the data of " + place.name()
                                + " are lost, remove it and add it again"));
    }

    /** Whether a move between the places is one of the member: its data are at the first, or else at the second. */
    public boolean mayMove(MemberSpec from, MemberSpec to, DataOwner member) {
        return machines.owner(from)
                .or(() -> machines.owner(to))
                .filter(owner -> !owner.equals(member))
                .isEmpty();
    }

    /**
     * Rejects a data directory in use by a member that the step does not concern. Data of a removed member of this
     * cluster is no obstacle.
     */
    private Optional<Refusal> dataInUse(Step step, ClusterFacts facts) {
        Optional<MemberSpec> place = step.place();
        if (place.isEmpty() || !machines.isInUse(place.get())) {
            return Optional.empty();
        }
        Optional<DataOwner> owner = machines.owner(place.get());
        boolean isFree = owner.isPresent()
                ? owner.get().cluster().equals(facts.cluster())
                        && (facts.member(owner.get().member()).isEmpty()
                                || isAbout(step, facts, owner.get().member()))
                // A member has no log before it has found the others.
                : !(step instanceof Step.AddLearner);
        return isFree
                ? Optional.empty()
                : Optional.of(new Refusal(
                        "data-directory-free",
                        "a process uses the data directory of " + place.get().name()
                                + owner.map(known -> ", of " + known).orElse(""),
                        "Stop it, or configure another data directory (machines."
                                + place.get().name() + ".dataDirectory)"));
    }

    private static boolean isAbout(Step step, ClusterFacts facts, MemberId member) {
        return !(step instanceof Step.Retire)
                && step.subject()
                        .or(() -> step.place()
                                .flatMap(place -> facts.named(place.name()))
                                .map(MemberFacts::id))
                        .filter(member::equals)
                        .isPresent();
    }

    private boolean hasLeft(MemberSpec place, ClusterFacts facts) {
        return machines.owner(place)
                .filter(owner -> owner.cluster().equals(facts.cluster())
                        && facts.member(owner.member()).isEmpty())
                .isPresent();
    }

    /** Whether the start of a member was attempted, or a compaction or defragmentation completed. */
    public boolean hasPerformed(Step step) {
        return performed.contains(step);
    }

    /** Returns members with data on this machine and without a process. */
    public List<MemberSpec> stopped(ClusterFacts facts) {
        return machines.places().stream()
                .filter(place ->
                        machines.isRunning(place).filter(running -> !running).isPresent())
                .filter(place -> machines.owner(place)
                        .filter(owner -> owner.cluster().equals(facts.cluster())
                                && facts.member(owner.member())
                                        .filter(member -> member.answer().isEmpty())
                                        .isPresent())
                        .isPresent())
                .toList();
    }

    /** Returns the free bytes on the disk of a member; empty on another machine. */
    public OptionalLong freeBytes(MemberFacts member) {
        return machines.place(member.name()).map(machines::freeBytes).orElse(OptionalLong.empty());
    }

    private void order(Step step, ClusterFacts facts) throws InterruptedException {
        if (step instanceof Step.Join join) {
            if (isRunning(join.member()) && hasLeft(join.member(), facts)) {
                stop(join.member());
            }
            if (isRunning(join.member())) {
                machines.resumeJoining(join.member());
            } else {
                started.add(join.member());
                machines.join(join.member(), initialCluster(facts, join.member(), join.id()));
            }
        } else if (step instanceof Step.Start start) {
            if (isRunning(start.member())) {
                machines.resumeJoining(start.member());
            } else {
                machines.start(start.member());
            }
        } else if (step instanceof Step.Restart restart) {
            whole(() -> {
                stop(restart.member());
                if (restart.isChanged()) {
                    machines.start(restart.member(), configured -> changed(configured, restart));
                } else {
                    machines.start(restart.member());
                }
            });
        } else if (step instanceof Step.Migrate migrate) {
            whole(() -> {
                stop(migrate.from());
                move(migrate);
                machines.start(migrate.to());
            });
        } else if (step instanceof Step.Retire retire) {
            machines.retire(retire.member());
        }
    }

    /** Orders that wait for a process. */
    @FunctionalInterface
    private interface Orders {
        void give() throws InterruptedException;
    }

    /** Gives all orders even if a signal interrupts this thread: a member that was stopped is started again. */
    private static void whole(Orders orders) {
        CompletableFuture<Void> given = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        orders.give();
                        given.complete(null);
                    } catch (InterruptedException | RuntimeException | Error e) {
                        given.completeExceptionally(e);
                    }
                },
                "restart");
        thread.start();
        try {
            given.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure;
            }
            if (e.getCause() instanceof Error failure) {
                throw failure;
            }
            throw e;
        }
    }

    /** Moves the data; on a definite failure the member starts again at its old place. */
    private void move(Step.Migrate migrate) {
        try {
            machines.moveData(migrate.from(), migrate.to());
        } catch (MachineBusyException e) {
            throw e;
        } catch (RuntimeException e) {
            machines.start(migrate.from());
            throw new IllegalStateException(
                    e.getMessage() + "; " + migrate.from().name() + " was started again", e);
        }
    }

    private static MachineSettings changed(MachineSettings configured, Step.Restart restart) {
        MachineSettings changed = restart.program().map(configured::withProgram).orElse(configured);
        return restart.writesRaftSnapshot()
                ? changed.withArguments(Stream.concat(changed.arguments().stream(), Stream.of("--snapshot-count=1"))
                        .toList())
                : changed;
    }

    /**
     * Stops the process of a removed member, once the effect of the step is observed.
     *
     * <p>Its place is identified by its URLs; one with the URLs or the name of another member is left alone.
     *
     * @param before what was observed before the step
     */
    void finish(Step step, ClusterFacts before) {
        if (step instanceof Step.Remove remove) {
            before.member(remove.id())
                    .flatMap(gone -> machines.places().stream()
                            .filter(place -> isAt(gone, place))
                            .findFirst())
                    .filter(place -> before.members().stream()
                            .noneMatch(other -> !other.id().equals(remove.id())
                                    && (isAt(other, place) || other.name().equals(place.name()))))
                    .filter(this::isRunning)
                    .filter(place -> machines.owner(place)
                            .map(new DataOwner(before.cluster(), remove.id())::equals)
                            .orElseGet(() -> started.contains(place)
                                    || before.member(remove.id())
                                            .filter(MemberFacts::hasStarted)
                                            .isPresent()))
                    .ifPresent(machines::retire);
        }
    }

    /** See {@link Machines#endFirstStart}; also for members that an interrupted command has started. */
    public void endFirstStarts() {
        for (MemberSpec place : machines.places()) {
            try {
                machines.endFirstStart(place);
                unended.remove(place);
            } catch (RuntimeException e) {
                if (unended.add(place)) {
                    LOG.atWarn()
                            .addKeyValue("machine", place.name())
                            .addKeyValue("cause", e.getMessage())
                            .log("flags of the first start not removed; retrying");
                }
            }
        }
    }

    private static boolean isAt(MemberFacts member, MemberSpec place) {
        return member.peerUrls().stream().anyMatch(place.peerUrls()::contains);
    }

    void stop(MemberSpec member) throws InterruptedException {
        part(() -> machines.stop(member));
        Deadline deadline = Deadline.in(STOP);
        while (isRunning(member)) {
            if (deadline.isOver()) {
                throw new IllegalStateException(
                        member.name() + " still runs " + STOP.toSeconds() + " s after the stop request");
            }
            deadline.pause(BETWEEN);
        }
    }

    /** Stops the process of a member that failed to join, unless it is another member's. */
    void stopJoining(Step.Join join, ClusterFacts facts) throws InterruptedException {
        boolean isOwn = started.contains(join.member())
                || machines.owner(join.member()).equals(Optional.of(new DataOwner(facts.cluster(), join.id())));
        if (isOwn && isRunning(join.member())) {
            stop(join.member());
        }
    }

    void remove(MemberId member) throws RefusedException, OutcomeUnknownException {
        membership.remove(member);
    }

    /** See {@link Membership#appendEntry}. */
    void appendEntry() {
        try {
            membership.appendEntry();
        } catch (RefusedException | OutcomeUnknownException e) {
            LOG.atDebug().addKeyValue("cause", e.getMessage()).log("entry not appended");
        }
    }

    boolean isRunning(MemberSpec member) {
        return machines.isRunning(member).orElse(false);
    }

    OptionalLong received(MemberSpec member) {
        return machines.received(member);
    }

    /** Whether the process is known to have ended. */
    boolean isGone(MemberSpec member) {
        return machines.isRunning(member).filter(running -> !running).isPresent();
    }

    /** Returns the reason of a failed start by the log; empty if not visible here. */
    String endOfLog(MemberSpec member) {
        return LogExplanation.text(machines.endOfLog(member));
    }

    /** Returns the exact {@code --initial-cluster} with which the new member starts. */
    public static String initialCluster(ClusterFacts facts, MemberSpec newcomer, MemberId id) {
        return facts.members().stream()
                .flatMap(member -> urls(member, newcomer, id))
                .collect(joining(","));
    }

    private static Stream<String> urls(MemberFacts member, MemberSpec newcomer, MemberId id) {
        String name = member.id().equals(id) ? newcomer.name() : member.label();
        return member.peerUrls().stream().map(URI::toString).map(url -> name + "=" + url);
    }
}
