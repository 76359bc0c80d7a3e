package io.understudy.bench.cluster;

import static java.util.stream.Collectors.joining;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.bench.BenchException;
import io.understudy.bench.relay.SourceLoad;
import io.understudy.cluster.goal.MemberGoals.AddMember;
import io.understudy.cluster.goal.MemberGoals.RemoveMember;
import io.understudy.cluster.machine.LocalControl;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.OwnMachines;
import io.understudy.cluster.membership.EtcdMembership;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.run.OperationTimeouts;
import io.understudy.cluster.run.Outcome;
import io.understudy.cluster.run.RunListener;
import io.understudy.cluster.run.Runner;
import io.understudy.cluster.run.StepWork;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.supervise.SupervisorProcess;
import io.understudy.cluster.supervise.rule.Decision;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.Waiting;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A cluster of three voters on this machine, with room for two members more. */
final class BenchCluster implements AutoCloseable {

    private static final int PLACES = 5;
    private static final int VOTERS = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration LOOK = Duration.ofSeconds(2);

    /** For so long a standby must have been in sync before it takes a place. */
    private static final Duration STABLE = Duration.ofSeconds(2);

    private static final int VALUE_BYTES = 4 << 10;
    private static final int VALUES_PER_MEGABYTE = 256;
    private static final int WRITERS = 128;

    private final FreePorts ports = FreePorts.take(2 * PLACES);
    private final MeterRegistry unread = new SimpleMeterRegistry();
    private final List<MachineSettings> machineSettings;
    private final LocalControl control;
    private final Machines machines;
    private final EtcdConnections connections;
    private final EtcdObserver observer;

    /** Starts the voters, and waits until they take new members. */
    BenchCluster(EtcdBinaries etcd, Path folder) {
        machineSettings = IntStream.range(0, PLACES)
                .mapToObj(i -> MachineSettings.of(spec(i), ProcessKind.LOCAL, folder.resolve("member-" + (i + 1))))
                .toList();
        control = new LocalControl(new LocalProcesses(), etcd::etcd);
        machines = OwnMachines.local(machineSettings, control, InstantSource.system());
        EtcdSettings settings =
                EtcdSettings.of(clientUrls().toArray(URI[]::new)).withName("bench-cluster");
        connections = EtcdConnections.open(settings);
        observer = new EtcdObserver(settings, connections, unread);
        machines.foundAll(places().subList(0, VOTERS), "bench");
        await(
                "three voting members did not serve",
                facts -> facts.healthyVoters().size() == VOTERS);
    }

    private MemberSpec spec(int index) {
        return new MemberSpec("member-" + (index + 1), List.of(loopback(2 * index)), List.of(loopback(2 * index + 1)));
    }

    private URI loopback(int port) {
        return URI.create("http://127.0.0.1:" + ports.get(port));
    }

    private @Nullable ClusterFacts look() {
        try {
            return observer.observe(LOOK);
        } catch (UnobservableException e) {
            return null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", e);
        }
    }

    List<MemberSpec> places() {
        return machines.places();
    }

    /** Of all places, whether a member runs there or not: what a client is configured with. */
    List<URI> clientUrls() {
        return places().stream().flatMap(place -> place.clientUrls().stream()).toList();
    }

    /**
     * Goes there by the same steps as the commands.
     *
     * @return how long it took, in seconds
     */
    double reach(Goal goal) throws InterruptedException {
        long began = System.nanoTime();
        StepWork work = new StepWork(new EtcdMembership(observer, connections, unread), machines);
        Outcome outcome = new Runner(observer, work, OperationTimeouts.DEFAULT, RunListener.NONE).run(goal);
        if (!(outcome instanceof Outcome.Reached)) {
            throw new BenchException("cluster change failed: " + outcome);
        }
        return (System.nanoTime() - began) / 1e9;
    }

    /** A learner joins while there is next to no data, and leaves: all code that is measured later has run once. */
    void rehearseJoin(MemberSpec newcomer) throws InterruptedException {
        var unusedJoin = reach(new AddMember(newcomer, false));
        await("learner not found", facts -> facts.named(newcomer.name()).isPresent());
        ClusterFacts facts = Objects.requireNonNull(look());
        var unusedLeave = reach(
                new RemoveMember(facts.named(newcomer.name()).orElseThrow().id()));
        machines.retire(newcomer);
    }

    /** Has a supervisor hold the cluster to so many voters and a standby. */
    SupervisorProcess supervise(int voters, Duration dead) {
        try (FreePorts port = FreePorts.take(1)) {
            ClusterSettings settings = ClusterSettings.load(
                    null,
                    Map.of(),
                    Map.of(
                            "cluster.endpoints",
                            clientUrls().stream().map(URI::toString).collect(joining(",")),
                            "shape.voters",
                            Integer.toString(voters),
                            "shape.deadTime",
                            dead.toMillis() + "ms",
                            "shape.stableTime",
                            STABLE.toMillis() + "ms",
                            "supervisor.listen",
                            "127.0.0.1:" + port.get(0)));
            return SupervisorProcess.start(settings, machines);
        } catch (IOException e) {
            throw new BenchException("cannot start the supervisor", e);
        }
    }

    /** Returns once there is a standby, and has been for long enough, and the supervisor finds nothing more to do. */
    void awaitStandby(SupervisorProcess supervisor, int voters) throws InterruptedException {
        await(
                "no standby joined",
                facts -> facts.healthyVoters().size() == voters
                        && facts.learners().size() == 1
                        && supervisor
                                .state()
                                .last()
                                .filter(event -> event.decision() instanceof Decision.Settled)
                                .isPresent());
        TimeUnit.MILLISECONDS.sleep(2 * STABLE.toMillis());
    }

    /**
     * As kill -9 does.
     *
     * @return its name
     */
    String killFollower() {
        MemberFacts leader = leading();
        MachineSettings chosen = machineSettings.stream()
                .filter(machine -> !machine.member().name().equals(leader.name()))
                .findFirst()
                .orElseThrow();
        control.process(chosen).kill();
        return chosen.member().name();
    }

    private MemberFacts leading() {
        return Waiting.until(
                PATIENCE,
                () -> Optional.ofNullable(look()).flatMap(ClusterFacts::leader),
                () -> new BenchException("no leader elected"));
    }

    /** Returns once there are so many healthy voters without that one, as a quorum confirms. */
    void awaitReplaced(int voters, String dead) {
        await(
                "failed voting member not replaced",
                facts -> facts.isConfirmed()
                        && facts.named(dead).isEmpty()
                        && facts.healthyVoters().size() == voters);
    }

    private void await(String otherwise, Predicate<ClusterFacts> wanted) {
        var unused = Waiting.until(
                PATIENCE,
                () -> Optional.ofNullable(look()).filter(wanted),
                () -> new BenchException(otherwise + " within " + PATIENCE.toSeconds() + " s"));
    }

    /**
     * Puts values that are never read again.
     *
     * <p>From 400 MB on these are so many entries (etcd keeps up to {@code snapshot-count}, 100,000, and some) that a
     * new member receives a snapshot, as in any cluster that has been in use.
     */
    void fill(int megabytes) throws InterruptedException {
        try (SourceLoad load = new SourceLoad(clientUrls().get(0), "bench/data/", VALUE_BYTES)) {
            load.singly(megabytes * VALUES_PER_MEGABYTE, WRITERS);
        }
    }

    @Override
    public void close() {
        connections.close();
        places().forEach(machines::stop);
        ports.close();
    }
}
