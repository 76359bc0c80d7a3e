package io.understudy.lab.part;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.goal.MemberGoals.AddMember;
import io.understudy.cluster.machine.LocalControl;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.OwnMachines;
import io.understudy.cluster.membership.EtcdMembership;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.run.OperationTimeouts;
import io.understudy.cluster.run.Outcome;
import io.understudy.cluster.run.RunListener;
import io.understudy.cluster.run.Runner;
import io.understudy.cluster.run.StepWork;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.failure.LabException;
import io.understudy.lab.part.Part.Child;
import io.understudy.lab.progress.Progress;
import io.understudy.lab.progress.Progress.Phase;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerProcess;
import java.nio.file.Files;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The core cluster: founding voters, and a learner. The learner joins by the steps of {@code understudy cluster add}.
 *
 * <p>The next run starts all of them with their data.
 */
public final class CoreClusterPart implements Part {

    private static final String NAME = "core";
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration LOOK = Duration.ofSeconds(2);
    private static final long BETWEEN_MILLIS = 100;

    private final List<Seat> voters;
    private final Seat learner;
    private final EtcdSettings cluster;
    private final @Nullable ClusterUsers authentication;
    private final Progress progress;
    private final LocalControl control;
    private final Machines machines;
    private volatile boolean hasBegun;
    private volatile List<Child> children = List.of();

    /** A member of the lab. */
    public record Seat(MachineSettings machine) {

        String name() {
            return machine.name();
        }

        MemberSpec member() {
            return machine.member();
        }

        boolean hasData() {
            return Files.isDirectory(machine.dataDirectory().resolve("member"));
        }
    }

    /**
     * @param cluster the endpoints and login for its voters and its learner
     * @param authentication its users and permissions; null without authentication
     */
    public CoreClusterPart(
            List<Seat> voters,
            Seat learner,
            EtcdSettings cluster,
            @Nullable ClusterUsers authentication,
            EtcdPrograms programs,
            Progress progress) {
        this.voters = List.copyOf(voters);
        this.learner = learner;
        this.cluster = cluster.withName(NAME);
        this.authentication = authentication;
        this.progress = progress;
        this.control =
                new LocalControl(new LocalProcesses(), () -> programs.found().etcd());
        this.machines = OwnMachines.local(seats().map(Seat::machine).toList(), control, InstantSource.system());
        seats().forEach(seat -> progress.add(seat.name(), ""));
    }

    private Stream<Seat> seats() {
        return Stream.concat(voters.stream(), Stream.of(learner));
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public void start() throws InterruptedException {
        requireFree();
        boolean isNew = voters.stream().noneMatch(Seat::hasData);
        if (isNew && learner.hasData()) {
            throw new LabException("learner has data in " + learner.machine().dataDirectory()
                    + " but no voting member has data: it belongs to another cluster; start with --fresh");
        }
        seats().forEach(seat -> progress.change(seat.name(), Phase.STARTING, ""));
        hasBegun = true;
        if (isNew) {
            machines.foundAll(voters.stream().map(Seat::member).toList(), NAME);
        } else {
            seats().filter(Seat::hasData).map(Seat::member).forEach(machines::start);
        }
        MeterRegistry unread = new SimpleMeterRegistry();
        if (authentication != null) {
            try (EtcdConnections connections = EtcdConnections.open(cluster)) {
                awaitVoters(new EtcdObserver(cluster, connections, unread));
            }
            authentication.enable(cluster);
        }
        try (EtcdConnections connections = EtcdConnections.open(cluster)) {
            EtcdObserver observer = new EtcdObserver(cluster, connections, unread);
            // By these connections too: one look is all that a change waits for at its begin.
            awaitVoters(observer);
            Outcome outcome = new Runner(
                            observer,
                            new StepWork(new EtcdMembership(observer, connections, unread), machines),
                            OperationTimeouts.DEFAULT,
                            RunListener.NONE)
                    .run(new AddMember(learner.member(), false));
            if (!(outcome instanceof Outcome.Reached)) {
                throw new LabException("learner join failed: " + outcome);
            }
        }
        children = seats().map(this::child).toList();
        progress.change(learner.name(), Phase.READY, "");
    }

    private void requireFree() {
        seats().forEach(seat -> Stream.concat(seat.member().clientUrls().stream(), seat.member().peerUrls().stream())
                .forEach(url -> FreePorts.requireFree(url.getPort(), "member " + seat.name())));
    }

    private Child child(Seat seat) {
        return new Child(seat.name(), () -> process(seat), () -> machines.start(seat.member()));
    }

    private ServerProcess process(Seat seat) {
        return control.process(seat.machine());
    }

    /** Waits for the voters and shows each as soon as it serves. */
    private void awaitVoters(EtcdObserver observer) throws InterruptedException {
        long began = System.nanoTime();
        Set<String> ready = new HashSet<>();
        while (ready.size() < voters.size()) {
            for (Seat seat : voters) {
                if (!process(seat).isAlive()) {
                    throw child(seat).failure("exited during startup");
                }
                if (System.nanoTime() - began > PATIENCE.toNanos()) {
                    throw child(seat).failure("does not serve after " + PATIENCE.toSeconds() + " s");
                }
            }
            for (String name : healthy(observer)) {
                voters.stream()
                        .filter(seat -> seat.name().equals(name) && ready.add(name))
                        .forEach(seat -> progress.change(seat.name(), Phase.READY, ""));
            }
            TimeUnit.MILLISECONDS.sleep(BETWEEN_MILLIS);
        }
    }

    private static List<String> healthy(EtcdObserver observer) throws InterruptedException {
        try {
            ClusterFacts facts = observer.observe(LOOK);
            return facts.healthyVoters().stream().map(MemberFacts::name).toList();
        } catch (UnobservableException e) {
            return List.of();
        }
    }

    @Override
    public List<Child> children() {
        return children;
    }

    /**
     * Stops members one by one, the learner first, so that a leader can hand over. If all stopped at once, it would
     * wait seconds for a successor.
     */
    @Override
    public void stop() {
        if (!hasBegun) {
            // Then there is nothing to be stopped, and maybe no program to stop it.
            return;
        }
        List<Seat> order = new ArrayList<>(List.of(learner));
        order.addAll(voters);
        order.forEach(seat -> machines.stop(seat.member()));
    }
}
