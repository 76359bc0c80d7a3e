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
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.run.OperationTimeouts.Deadline;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
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
    private final StepObstacles obstacles;
    /** Members that this run started without data. */
    private final Set<MemberSpec> started = new HashSet<>();

    private final Set<Step> performed = new HashSet<>();
    /** Places with a first start that could not be ended; each is logged once. */
    private final Set<MemberSpec> unended = new HashSet<>();

    public StepWork(Membership membership, Machines machines) {
        this.membership = membership;
        this.machines = machines;
        this.obstacles = new StepObstacles(machines, Optional.empty());
    }

    /** Creates the work that adds a second learner only if all members have the limit. */
    public StepWork(Membership membership, Machines machines, LearnerLimit limit) {
        this.membership = membership;
        this.machines = machines;
        this.obstacles = new StepObstacles(machines, Optional.of(limit));
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
        Optional<Refusal> obstacle =
                step instanceof Step.Join ? obstacles.foreignData(step, facts) : obstacle(step, facts);
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

    /** Returns why the step cannot be taken on its machine. */
    public Optional<Refusal> obstacle(Step step, ClusterFacts facts) {
        return obstacles.of(step, facts);
    }

    public StepObstacles obstacles() {
        return obstacles;
    }

    /** Gives a preparing order of a step. */
    private static void part(Runnable order) {
        try {
            order.run();
        } catch (MachineBusyException e) {
            throw e.ofPart();
        }
    }

    /** Whether a move between the places is one of the member: its data are at the first, or else at the second. */
    public boolean mayMove(MemberSpec from, MemberSpec to, DataOwner member) {
        return machines.owner(from)
                .or(() -> machines.owner(to))
                .filter(owner -> !owner.equals(member))
                .isEmpty();
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

    static MachineSettings changed(MachineSettings configured, Step.Restart restart) {
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

    static boolean isAt(MemberFacts member, MemberSpec place) {
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
