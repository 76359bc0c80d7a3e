package io.understudy.cluster.supervise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.StatusResponse;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.machine.BoundedMachines;
import io.understudy.cluster.machine.DataOwner;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.Machines.MachineBusyException;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.NoMachines;
import io.understudy.cluster.membership.Membership;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.MemberFacts.Measurements;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.run.StepWork;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.supervise.SupervisorProcess.SupervisorMeters;
import io.understudy.cluster.supervise.SupervisorState.Event;
import io.understudy.cluster.supervise.SupervisorState.Event.Outcome;
import io.understudy.cluster.supervise.elect.Candidacy;
import io.understudy.cluster.supervise.rule.Decision;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.Role;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A supervisor with machines of which one hangs, such as one with a frozen disk. */
final class SupervisorOrdersTest {

    private static final Duration PATIENCE = Duration.ofMillis(200);
    private static final Duration DEAD = Duration.ofSeconds(1);
    private static final Duration INTERVAL = Duration.ofMillis(100);

    private final AtomicInteger looks = new AtomicInteger();
    private final CountDownLatch thaw = new CountDownLatch(1);
    private final Set<String> running = ConcurrentHashMap.newKeySet();
    private final AtomicInteger orders = new AtomicInteger();
    /** Members with a program that was run to check it. */
    private final List<String> programs = new CopyOnWriteArrayList<>();

    private final Map<String, DataOwner> owners = new ConcurrentHashMap<>(Map.of(
            "m1", new DataOwner(new ClusterId(1), new MemberId(1)),
            "m2", new DataOwner(new ClusterId(1), new MemberId(2))));
    /** Members with an ended first start. */
    private final Set<String> settled = ConcurrentHashMap.newKeySet();
    /** Holds back checks of the data directory of m1. */
    private CountDownLatch reads = new CountDownLatch(0);

    @Test
    void anOrderThatDoesNotEndBlocksNeitherTheObservationsNorOtherMachines() throws Exception {
        supervise(() -> facts(false), (supervisor, journal) -> {
            await("the start of m2")
                    .until(() -> outcomes(journal, "m2").contains(Outcome.DONE)
                            && outcomes(journal, "m1").contains(Outcome.ORDERED));
            int before = looks.get();
            await("more observations").until(() -> looks.get() > before + 2);
            assertThat(orders).hasValue(1);
            assertThat(outcomes(journal, "m1")).doesNotContain(Outcome.DONE, Outcome.FAILED);
            thaw.countDown();
            await("the end of the order").until(() -> outcomes(journal, "m1").contains(Outcome.DONE));
            assertThat(running).contains("m1", "m2");
            assertThat(programs)
                    .as("of the machine without a member, and not at each look")
                    .containsExactly("m4");
        });
    }

    /** Nothing was ordered, so the start is tried again. */
    @Test
    void aReadOfTheMachineThatDoesNotEndIsNoOrder() throws Exception {
        reads = thaw;
        supervise(() -> facts(false), (supervisor, journal) -> {
            await("the read").until(() -> outcomes(journal, "m1").contains(Outcome.FAILED));
            assertThat(orders).hasValue(0);
            thaw.countDown();
            await("the start of m1").until(() -> running.contains("m1"));
            assertThat(outcomes(journal, "m1")).doesNotContain(Outcome.ORDERED);
        });
    }

    /** The data of m2 are of a member that was removed, and those of m4 cannot be read. */
    @Test
    void ownMembersThatEndedAreStartedThoughNoMemberAnswers() throws Exception {
        thaw.countDown();
        owners.put("m2", new DataOwner(new ClusterId(1), new MemberId(9)));
        running.addAll(List.of("m1", "m2", "m3", "m4"));
        supervise(
                () -> {
                    if (looks.get() == 1) {
                        return facts(false);
                    }
                    if (looks.get() == 2) {
                        running.clear();
                    }
                    throw new UnobservableException("no endpoint reachable");
                },
                (supervisor, journal) -> {
                    await("the start of m1").until(() -> outcomes(journal, "m1").contains(Outcome.DONE));
                    int before = looks.get();
                    await("more observations").until(() -> looks.get() > before + 2);
                    assertThat(running).containsExactly("m1");
                });
    }

    /** A command that was killed after a join leaves that to the supervisor. */
    @Test
    void theFirstStartOfEachMemberIsEndedThoughOneMachineFails() throws Exception {
        supervise(
                () -> {
                    throw new UnobservableException("no endpoint reachable");
                },
                (supervisor, journal) -> {
                    await("all but m3").until(() -> settled.containsAll(List.of("m1", "m2", "m4")));
                    settled.clear();
                    await("the next observation").until(() -> settled.containsAll(List.of("m1", "m2", "m4")));
                });
    }

    /** Another cluster may have replaced the one of the data. */
    @Test
    void nothingIsStartedBeforeTheFirstObservation() throws Exception {
        thaw.countDown();
        supervise(
                () -> {
                    throw new UnobservableException("no endpoint reachable");
                },
                (supervisor, journal) -> {
                    int whenDead = Math.toIntExact(DEAD.dividedBy(INTERVAL)) + 3;
                    await("observations for the dead time").until(() -> looks.get() > whenDead);
                    assertThat(running).isEmpty();
                    assertThat(journal.last().orElseThrow().detail()).contains("not observed since");
                });
    }

    /** When a removed member has stopped, no other has been added. */
    @Test
    void theEndOfAnOrderBeforeAStepIsNotTheEndOfTheStep() {
        owners.put("m2", new DataOwner(new ClusterId(1), new MemberId(9)));
        running.add("m2");
        try (BoundedMachines machines = new BoundedMachines(new Frozen(), PATIENCE)) {
            StepWork work = new StepWork(new NoMembership(), machines);
            assertThatThrownBy(() -> work.begin(new Step.AddLearner(spec("m2")), facts(false)))
                    .isInstanceOfSatisfying(MachineBusyException.class, busy -> assertThat(busy.end())
                            .isNull());
            thaw.countDown();
        }
        assertThat(running).isEmpty();
    }

    @Test
    void machinesAreClosedWhenOrdersHaveEnded() {
        List<String> ended = new CopyOnWriteArrayList<>();
        BoundedMachines machines = new BoundedMachines(new Frozen(), Duration.ofMillis(1));
        assertThatThrownBy(() -> machines.start(spec("m1"))).isInstanceOf(MachineBusyException.class);
        CompletableFuture<Void> thawed = CompletableFuture.runAsync(
                () -> {
                    ended.add("order");
                    thaw.countDown();
                },
                CompletableFuture.delayedExecutor(300, TimeUnit.MILLISECONDS));

        machines.close();
        ended.add("machines");

        thawed.join();
        assertThat(ended).containsExactly("order", "machines");
        assertThat(running).contains("m1");
    }

    @Test
    void raisedAlarmsAreCountedByKind() throws Exception {
        MemberAnswer answer = MemberAnswer.of(
                StatusResponse.newBuilder()
                        .addErrors("memberID:2 alarm:NOSPACE ")
                        .addErrors("etcdserver: no leader")
                        .addErrors("disk failure")
                        .build(),
                true);
        ClusterFacts alarmed = new ClusterFacts(
                new ClusterId(1), List.of(member(1, Optional.of(answer))), true, List.of(), Instant.now());
        supervise(() -> alarmed, (supervisor, journal) -> {
            SimpleMeterRegistry meters = new SimpleMeterRegistry();
            SupervisorMeters.register(supervisor, new NoMachines(), meters);
            Function<String, Double> alarms = kind -> meters.get("understudy.cluster.alarms")
                    .tag("kind", kind)
                    .gauge()
                    .value();
            await("an observation").until(() -> alarms.apply("NOSPACE") == 1);
            assertThat(alarms.apply("CORRUPT")).isZero();
            assertThat(alarms.apply("other")).isEqualTo(1);
        });
    }

    @FunctionalInterface
    private interface Body {
        void run(Supervisor supervisor, Journal journal) throws Exception;
    }

    private void supervise(Supplier<ClusterFacts> facts, Body body) throws Exception {
        ClusterSettings settings = ClusterSettings.load(
                null,
                Map.of(),
                Map.of(
                        "cluster.endpoints",
                        "http://127.0.0.1:1",
                        "shape.deadTime",
                        DEAD.toSeconds() + "s",
                        "supervisor.interval",
                        INTERVAL.toMillis() + "ms",
                        "supervisor.patience",
                        "100ms"));
        ClusterObserver observer = patience -> {
            looks.incrementAndGet();
            return facts.get();
        };
        Journal journal = new Journal(new SimpleMeterRegistry());
        try (EtcdConnections connections = EtcdConnections.open(settings.cluster());
                Candidacy candidacy =
                        Candidacy.start("s", connections, List::of, Duration.ofSeconds(2), Duration.ofMinutes(1));
                BoundedMachines machines = new BoundedMachines(new Frozen(), PATIENCE);
                Supervisor supervisor = new Supervisor(
                        observer,
                        new StepWork(new NoMembership(), machines),
                        machines,
                        candidacy,
                        settings.shape(),
                        settings.limits(),
                        settings.supervisor(),
                        journal,
                        seen -> {})) {
            supervisor.start();
            body.run(supervisor, journal);
        } finally {
            thaw.countDown();
        }
    }

    private static List<Outcome> outcomes(Journal journal, String member) {
        return journal.events().stream()
                .filter(event -> event.decision() instanceof Decision.Change change
                        && change.step().equals(new Step.Start(spec(member))))
                .map(Event::outcome)
                .toList();
    }

    private static MemberSpec spec(String name) {
        return new MemberSpec(name, List.of(URI.create("http://" + name + ":2380")), List.of());
    }

    private static ClusterFacts facts(boolean isConfirmed) {
        List<MemberFacts> members = IntStream.rangeClosed(1, 3)
                .mapToObj(id -> member(id, Optional.empty()))
                .toList();
        return new ClusterFacts(new ClusterId(1), members, isConfirmed, List.of(), Instant.now());
    }

    private static MemberFacts member(int id, Optional<MemberAnswer> answer) {
        return new MemberFacts(
                new MemberId(id),
                "m" + id,
                Role.VOTER,
                spec("m" + id).peerUrls(),
                List.of(),
                answer,
                Measurements.NONE);
    }

    /** m1 starts only when thawed; m3 has no data, and those of m4 cannot be read. */
    private final class Frozen extends NoMachines {

        @Override
        public List<MemberSpec> places() {
            return List.of(spec("m4"), spec("m3"), spec("m2"), spec("m1"));
        }

        @Override
        public void endFirstStart(MemberSpec member) {
            if (member.name().equals("m3")) {
                throw new IllegalStateException("read-only file system");
            }
            settled.add(member.name());
        }

        @Override
        public void start(MemberSpec member) {
            if (member.name().equals("m1")) {
                orders.incrementAndGet();
                await(thaw);
            }
            running.add(member.name());
        }

        @Override
        public Optional<String> programFailure(MemberSpec member, UnaryOperator<MachineSettings> settings) {
            programs.add(member.name());
            return Optional.empty();
        }

        @Override
        public boolean isInUse(MemberSpec member) {
            if (member.name().equals("m1")) {
                await(reads);
            }
            return running.contains(member.name());
        }

        @Override
        public void retire(MemberSpec member) {
            await(thaw);
            running.remove(member.name());
        }

        @Override
        public Optional<Boolean> isRunning(MemberSpec member) {
            return Optional.of(running.contains(member.name()));
        }

        @Override
        public Optional<DataOwner> owner(MemberSpec member) {
            if (member.name().equals("m4")) {
                throw new UncheckedIOException(new IOException("Input/output error"));
            }
            return Optional.ofNullable(owners.get(member.name()));
        }

        private static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** No change of the member list is expected. */
    private static final class NoMembership implements Membership {

        @Override
        public MemberId addLearner(List<URI> peerUrls) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void promote(MemberId learner) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void remove(MemberId member) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void updatePeerUrls(MemberId member, List<URI> peerUrls) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void moveLeader(MemberId from, MemberId to) {
            throw new UnsupportedOperationException();
        }
    }
}
