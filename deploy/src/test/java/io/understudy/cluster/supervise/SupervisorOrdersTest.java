package io.understudy.cluster.supervise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.machine.BoundedMachines;
import io.understudy.cluster.machine.DataOwner;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.NoMachines;
import io.understudy.cluster.membership.Membership;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.Measurements;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.UnobservableException;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.run.StepWork;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.supervise.Event.Outcome;
import io.understudy.cluster.supervise.elect.Candidacy;
import io.understudy.cluster.supervise.rule.Decision;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.Role;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A supervisor with machines of which one hangs, such as one with a frozen disk. */
final class SupervisorOrdersTest {

    private static final Duration PATIENCE = Duration.ofMillis(200);

    private final AtomicInteger looks = new AtomicInteger();
    private final CountDownLatch thaw = new CountDownLatch(1);
    private final Set<String> running = ConcurrentHashMap.newKeySet();
    private final AtomicInteger orders = new AtomicInteger();

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
        });
    }

    @Test
    void ownMembersThatEndedAreStartedThoughNoMemberAnswers() throws Exception {
        thaw.countDown();
        supervise(
                () -> {
                    throw new UnobservableException("no endpoint reachable");
                },
                (supervisor, journal) -> {
                    await("both starts").until(() -> running.size() == 2);
                    assertThat(outcomes(journal, "m1")).contains(Outcome.DONE);
                    assertThat(running).doesNotContain("m3");
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
                        "cluster.endpoints", "http://127.0.0.1:1",
                        "shape.deadTime", "1s",
                        "supervisor.interval", "100ms",
                        "supervisor.patience", "100ms"));
        ClusterObserver observer = patience -> {
            looks.incrementAndGet();
            return facts.get();
        };
        Journal journal = new Journal(new SimpleMeterRegistry());
        try (EtcdConnections connections = EtcdConnections.open(settings.cluster());
                BoundedMachines machines = new BoundedMachines(new Frozen(), PATIENCE);
                Candidacy candidacy = Candidacy.start("s", connections, List::of, Duration.ofSeconds(2));
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
                .mapToObj(id -> new MemberFacts(
                        new MemberId(id),
                        "m" + id,
                        Role.VOTER,
                        spec("m" + id).peerUrls(),
                        List.of(),
                        Optional.empty(),
                        Measurements.NONE))
                .toList();
        return new ClusterFacts(new ClusterId(1), members, isConfirmed, List.of(), Instant.now());
    }

    /** m1 starts only when thawed; m3 has no data. */
    private final class Frozen extends NoMachines {

        @Override
        public List<MemberSpec> places() {
            return List.of(spec("m3"), spec("m1"), spec("m2"));
        }

        @Override
        public void start(MemberSpec member) {
            if (member.name().equals("m1")) {
                orders.incrementAndGet();
                try {
                    thaw.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }
            running.add(member.name());
        }

        @Override
        public Optional<Boolean> isRunning(MemberSpec member) {
            return Optional.of(running.contains(member.name()));
        }

        @Override
        public Optional<DataOwner> owner(MemberSpec member) {
            return member.name().equals("m3")
                    ? Optional.empty()
                    : Optional.of(new DataOwner(new ClusterId(1), new MemberId(1)));
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
        public void moveLeader(MemberId to) {
            throw new UnsupportedOperationException();
        }
    }
}
