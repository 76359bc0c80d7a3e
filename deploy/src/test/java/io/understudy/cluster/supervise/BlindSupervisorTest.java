package io.understudy.cluster.supervise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrantResponse;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.LeaseRevokeResponse;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.machine.DataOwner;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.NoMachines;
import io.understudy.cluster.membership.Membership;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.MemberFacts.Measurements;
import io.understudy.cluster.run.StepWork;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.cluster.supervise.SupervisorState.Event;
import io.understudy.cluster.supervise.elect.Candidacy;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.Role;
import io.understudy.etcd.StorageStatus;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.ElectionState;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Supervisors of three voting members, of which one does not reach the leader. */
final class BlindSupervisorTest {

    private static final Duration TTL = Duration.ofSeconds(2);
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int LEADER = 2;
    private static final int VICTIM = 3;
    private static final int STANDBY = 4;

    /** Keys of supervisors, in a single member that all reach. */
    private final Map<ByteString, KeyValue> keys = new ConcurrentHashMap<>();

    private final AtomicInteger reads = new AtomicInteger();
    private final Set<Integer> removed = ConcurrentHashMap.newKeySet();
    private final List<String> changes = new CopyOnWriteArrayList<>();
    /** Whether the process of m1 has ended. */
    private volatile boolean isStopped;

    private volatile Optional<Instant> diedAt = Optional.empty();

    private Server server;

    @BeforeEach
    void startMember() throws IOException {
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new Keys())
                .addService(new Leases())
                .build()
                .start();
    }

    @AfterEach
    void stopMember() {
        server.shutdownNow();
    }

    @Test
    void anotherSupervisorReplacesAVoterThatTheActiveOneCannotSee() {
        ClusterSettings settings = settings("100ms");
        try (EtcdConnections connections = EtcdConnections.open(settings.cluster());
                Candidacy blind = candidacy("blind", connections, settings);
                Supervisor first = supervisor(blind, settings, Set.of(LEADER, VICTIM))) {
            await().atMost(PATIENCE).until(() -> blind.standing() instanceof ElectionState.Active);
            first.start();
            try (Candidacy other = candidacy("other", connections, settings);
                    Supervisor second = supervisor(other, settings, Set.of())) {
                second.start();
                await().atMost(PATIENCE).until(() -> other.standing() instanceof ElectionState.Active);
                diedAt = Optional.of(Instant.now());
                await().atMost(PATIENCE).until(() -> changes.size() == 2);
            }
        }
        assertThat(changes).containsExactly("other removes 3", "other promotes 4");
    }

    /** A learner is to join in the observation in which it steps down. */
    @Test
    void theOnlySupervisorStepsDownWithoutAStepAndReturnsWhenItSeesTheLeaderAgain() {
        // The second observation is one deadTime after the first.
        ClusterSettings settings = settings("1500ms");
        AtomicInteger looks = new AtomicInteger();
        Set<Integer> cut = ConcurrentHashMap.newKeySet();
        cut.add(LEADER);
        Journal journal = new Journal(new SimpleMeterRegistry());
        try (EtcdConnections connections = EtcdConnections.open(settings.cluster());
                Candidacy alone = Candidacy.start(
                        "alone", connections, settings.cluster()::seeds, TTL.multipliedBy(10), PATIENCE);
                Supervisor supervisor = supervisor(
                        alone,
                        settings,
                        patience -> looks.incrementAndGet() == 1 ? voters(cut) : joining(cut),
                        journal)) {
            await().atMost(PATIENCE).until(() -> alone.standing() instanceof ElectionState.Active);
            supervisor.start();
            await().atMost(PATIENCE).until(() -> journal.events().stream()
                    .anyMatch(event -> event.outcome() == Event.Outcome.NOT_ACTIVE));
            assertThat(changes).isEmpty();
            int before = reads.get();
            cut.clear();
            await().atMost(PATIENCE).until(() -> !changes.isEmpty());
            assertThat(reads.get() - before).as("of 12 in three TTLs").isLessThan(8);
        }
        assertThat(changes).containsExactly("m4 joins");
    }

    /** Without a quorum its lease does not expire. The pause by an operator remains. */
    @Test
    void aKilledCommandDoesNotKeepOwnMembersStopped() throws Exception {
        ClusterSettings settings = settings("100ms");
        Set<String> cut = ConcurrentHashMap.newKeySet();
        isStopped = true;
        put("changing", "cluster roll");
        put("paused", "maintenance");
        try (EtcdConnections connections = EtcdConnections.open(settings.cluster());
                Candidacy paused = candidacy("paused", connections, settings, cut)) {
            await().atMost(PATIENCE).until(() -> paused.paused().equals(Optional.of("maintenance")));
            cut.add("paused");
            keys.remove(key("paused"));
            try (Candidacy changed = candidacy("changed", connections, settings, cut);
                    Supervisor first = silent(paused, settings);
                    Supervisor second = silent(changed, settings)) {
                await().atMost(PATIENCE).until(() -> changed.paused().equals(Optional.of("cluster roll")));
                cut.add("changed");
                first.start();
                second.start();
                await().atMost(PATIENCE).until(() -> !changes.isEmpty());
                assertThat(paused.startsPaused(Duration.ZERO)).contains("maintenance");
            }
        }
        assertThat(changes).containsExactly("changed starts m1");
    }

    private void put(String name, String value) {
        keys.put(
                key(name),
                KeyValue.newBuilder()
                        .setKey(key(name))
                        .setValue(ByteString.copyFromUtf8(value))
                        .build());
    }

    private static ByteString key(String name) {
        return ByteString.copyFromUtf8("\0understudy/cluster/" + name);
    }

    private static Candidacy candidacy(
            String name, EtcdConnections connections, ClusterSettings settings, Set<String> cut) {
        return Candidacy.start(
                name,
                connections,
                () -> cut.contains(name) ? List.of() : settings.cluster().seeds(),
                TTL,
                PATIENCE);
    }

    /** Returns a supervisor that has observed the cluster once. */
    private Supervisor silent(Candidacy candidacy, ClusterSettings settings) {
        AtomicInteger looks = new AtomicInteger();
        return supervisor(
                candidacy,
                settings,
                patience -> {
                    if (looks.incrementAndGet() == 1) {
                        return facts(Set.of());
                    }
                    throw new UnobservableException("no endpoint reachable");
                },
                new Journal(new SimpleMeterRegistry()));
    }

    private ClusterSettings settings(String interval) {
        return ClusterSettings.load(
                null,
                Map.of(),
                Map.of(
                        "cluster.endpoints",
                        "http://127.0.0.1:" + server.getPort(),
                        "shape.deadTime",
                        "1s",
                        "shape.stableTime",
                        "1s",
                        "supervisor.interval",
                        interval,
                        "supervisor.patience",
                        "1s"));
    }

    private static Candidacy candidacy(String name, EtcdConnections connections, ClusterSettings settings) {
        return Candidacy.start(name, connections, settings.cluster()::seeds, TTL, PATIENCE);
    }

    private Supervisor supervisor(Candidacy candidacy, ClusterSettings settings, Set<Integer> cut) {
        return supervisor(candidacy, settings, patience -> facts(cut), new Journal(new SimpleMeterRegistry()));
    }

    private Supervisor supervisor(
            Candidacy candidacy, ClusterSettings settings, ClusterObserver observer, Journal journal) {
        return new Supervisor(
                observer,
                new StepWork(new Changes(candidacy.name()), new Places(candidacy.name())),
                new Places(candidacy.name()),
                candidacy,
                settings.shape(),
                settings.limits(),
                settings.supervisor(),
                journal,
                seen -> {});
    }

    private ClusterFacts facts(Set<Integer> cut) {
        List<MemberFacts> members = IntStream.rangeClosed(1, STANDBY)
                .filter(number -> !removed.contains(number))
                .mapToObj(number -> member(number, cut))
                .toList();
        return new ClusterFacts(new ClusterId(1), members, true, List.of(), Instant.now());
    }

    private ClusterFacts voters(Set<Integer> cut) {
        List<MemberFacts> members = IntStream.range(1, STANDBY)
                .mapToObj(number -> member(number, cut))
                .toList();
        return new ClusterFacts(new ClusterId(1), members, true, List.of(), Instant.now());
    }

    private ClusterFacts joining(Set<Integer> cut) {
        List<MemberFacts> members = new ArrayList<>(voters(cut).members());
        members.add(new MemberFacts(
                new MemberId(STANDBY),
                "",
                Role.LEARNER,
                spec(STANDBY).peerUrls(),
                List.of(),
                Optional.empty(),
                Measurements.NONE));
        return new ClusterFacts(new ClusterId(1), members, true, List.of(), Instant.now());
    }

    private MemberFacts member(int number, Set<Integer> cut) {
        boolean isSilent = cut.contains(number) || (number == VICTIM && diedAt.isPresent());
        MemberAnswer answer = new MemberAnswer(
                EtcdVersion.parse("3.6.5"),
                Optional.of(new MemberId(LEADER)),
                7,
                100,
                100,
                new Revision(5),
                1,
                1,
                true,
                List.of(),
                StorageStatus.NONE);
        Map<MemberId, Duration> silence = IntStream.rangeClosed(1, STANDBY)
                .boxed()
                .collect(Collectors.toMap(
                        each -> new MemberId(each),
                        each -> each == VICTIM
                                ? diedAt.map(at -> Duration.between(at, Instant.now()))
                                        .orElse(Duration.ZERO)
                                : Duration.ZERO));
        return new MemberFacts(
                new MemberId(number),
                "m" + number,
                number == STANDBY && !changes.contains("other promotes 4") ? Role.LEARNER : Role.VOTER,
                spec(number).peerUrls(),
                List.of(),
                isSilent ? Optional.empty() : Optional.of(answer),
                number == LEADER && !isSilent
                        ? new Measurements(silence, Map.of(), Optional.empty(), false)
                        : Measurements.NONE);
    }

    private static MemberSpec spec(int number) {
        return new MemberSpec("m" + number, List.of(URI.create("http://m" + number + ":2380")), List.of());
    }

    private final class Places extends NoMachines {

        private final String supervisor;

        Places(String supervisor) {
            this.supervisor = supervisor;
        }

        @Override
        public List<MemberSpec> places() {
            return IntStream.rangeClosed(1, STANDBY)
                    .mapToObj(BlindSupervisorTest::spec)
                    .toList();
        }

        @Override
        public Optional<Boolean> isRunning(MemberSpec member) {
            return isStopped ? Optional.of(!member.equals(spec(1))) : Optional.empty();
        }

        @Override
        public Optional<DataOwner> owner(MemberSpec member) {
            return isStopped && member.equals(spec(1))
                    ? Optional.of(new DataOwner(new ClusterId(1), new MemberId(1)))
                    : Optional.empty();
        }

        @Override
        public void start(MemberSpec member) {
            changes.add(supervisor + " starts " + member.name());
        }

        @Override
        public void join(MemberSpec member, String initialCluster) {
            changes.add(member.name() + " joins");
        }
    }

    private final class Changes implements Membership {

        private final String supervisor;

        Changes(String supervisor) {
            this.supervisor = supervisor;
        }

        @Override
        public MemberId addLearner(List<URI> peerUrls) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void promote(MemberId learner) {
            changes.add(supervisor + " promotes " + learner.value());
        }

        @Override
        public void remove(MemberId member) {
            changes.add(supervisor + " removes " + member.value());
            removed.add((int) member.value());
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

    private final class Keys extends KVGrpc.KVImplBase {

        @Override
        public void range(RangeRequest request, StreamObserver<RangeResponse> response) {
            reads.incrementAndGet();
            response.onNext(RangeResponse.newBuilder().addAllKvs(keys.values()).build());
            response.onCompleted();
        }

        @Override
        public void txn(TxnRequest request, StreamObserver<TxnResponse> response) {
            PutRequest put = request.getSuccess(0).getRequestPut();
            KeyValue stored = KeyValue.newBuilder()
                    .setKey(put.getKey())
                    .setValue(put.getValue())
                    .setLease(put.getLease())
                    .build();
            response.onNext(TxnResponse.newBuilder()
                    .setSucceeded(keys.putIfAbsent(put.getKey(), stored) == null)
                    .build());
            response.onCompleted();
        }
    }

    private final class Leases extends LeaseGrpc.LeaseImplBase {

        private final AtomicLong granted = new AtomicLong();

        @Override
        public void leaseGrant(LeaseGrantRequest request, StreamObserver<LeaseGrantResponse> response) {
            response.onNext(LeaseGrantResponse.newBuilder()
                    .setID(granted.incrementAndGet())
                    .build());
            response.onCompleted();
        }

        @Override
        public StreamObserver<LeaseKeepAliveRequest> leaseKeepAlive(StreamObserver<LeaseKeepAliveResponse> response) {
            return new StreamObserver<>() {
                @Override
                public void onNext(LeaseKeepAliveRequest request) {
                    response.onNext(LeaseKeepAliveResponse.newBuilder()
                            .setTTL(TTL.toSeconds())
                            .build());
                }

                @Override
                public void onError(Throwable failure) {}

                @Override
                public void onCompleted() {
                    response.onCompleted();
                }
            };
        }

        @Override
        public void leaseRevoke(LeaseRevokeRequest request, StreamObserver<LeaseRevokeResponse> response) {
            keys.values().removeIf(each -> each.getLease() == request.getID());
            response.onNext(LeaseRevokeResponse.getDefaultInstance());
            response.onCompleted();
        }
    }
}
