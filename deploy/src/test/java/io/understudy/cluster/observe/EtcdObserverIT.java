package io.understudy.cluster.observe;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.membership.EtcdMembership;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.EtcdObserver.FallbackEndpoints;
import io.understudy.cluster.observe.MemberFacts.Measurements;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is seen of a real cluster, whole and in parts.
 *
 * <p>Tests invariant DP27.
 */
final class EtcdObserverIT {

    private static final Duration PATIENCE = Duration.ofSeconds(5);

    @TempDir
    private Path folder;

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private LocalEtcd cluster;
    private EtcdConnections connections;

    @AfterEach
    void stop() {
        if (connections != null) {
            connections.close();
        }
        if (cluster != null) {
            cluster.close();
        }
    }

    @Test
    void oneEndpointLeadsToAllMembersAndTheirConnections() throws Exception {
        cluster = start("whole", 3, 1);
        EtcdObserver observer = observer(cluster.voters().get(1).clientUrl());

        ClusterFacts facts = observer.observe(PATIENCE);

        assertThat(facts.isConfirmed()).isTrue();
        assertThat(facts.alarms()).isEmpty();
        assertThat(facts.members())
                .extracting(MemberFacts::name)
                .containsExactly("whole-1", "whole-2", "whole-3", "whole-4");
        assertThat(facts.members()).allMatch(MemberFacts::isHealthy);
        assertThat(facts.learners()).extracting(MemberFacts::name).containsExactly("whole-4");
        assertThat(facts.leader().orElseThrow().name())
                .isEqualTo(cluster.leader().name());
        await().atMost(20, SECONDS).untilAsserted(() -> {
            ClusterFacts again = observer.observe(PATIENCE);
            MemberFacts leader = again.leader().orElseThrow();
            assertThat(again.members())
                    .filteredOn(member -> !member.equals(leader))
                    .hasSize(3)
                    .allMatch(member -> leader.measurements().hears(member.id())
                            && member.measurements().hears(leader.id()));
        });
        assertThat(facts.quorum().tolerance()).isEqualTo(1);
    }

    @Test
    void aDeadVoterIsSilentForTheLeaderAndTheObserver() throws Exception {
        cluster = start("dead", 3, 0);
        EtcdObserver observer = observer(cluster.clientUrls().toArray(URI[]::new));
        EtcdMember victim = cluster.followers().get(0);
        MemberId id = new MemberId(victim.id());
        victim.kill();

        await().atMost(20, SECONDS).untilAsserted(() -> {
            ClusterFacts facts = observer.observe(PATIENCE);
            assertThat(facts.member(id).orElseThrow().answer()).isEmpty();
            assertThat(facts.leader().orElseThrow().measurements().silence().get(id))
                    .isGreaterThanOrEqualTo(Measurements.RECENT);
            assertThat(facts.isConfirmed()).isTrue();
            assertThat(facts.quorum()).hasToString("3 voters, 2 healthy, 2 needed: survives no failure");
        });

        victim.start();
        await().atMost(20, SECONDS)
                .untilAsserted(
                        () -> assertThat(observer.observe(PATIENCE).members()).allMatch(MemberFacts::isHealthy));
    }

    @Test
    void glancesAtAnIdleClusterMakeNoUnaryCalls() throws Exception {
        assumeFalse(
                EtcdBinaries.find().version().toString().startsWith("3.5."),
                "etcd 3.5 has no etcd_network_known_peers");
        cluster = start("idle", 3, 1);
        EtcdObserver observer = observer(cluster.clientUrls().toArray(URI[]::new));
        await("two metrics pages").atMost(20, SECONDS).until(() -> {
            ClusterFacts unused = observer.observe(PATIENCE);
            return observer.glance(PATIENCE).isPresent();
        });
        double before = unaryCalls();
        List<Double> pagesBefore = pages();
        for (int look = 0; look < 5; look++) {
            assertThat(observer.glance(PATIENCE))
                    .hasValueSatisfying(
                            facts -> assertThat(facts.members()).hasSize(4).allMatch(MemberFacts::isHealthy));
        }
        assertThat(unaryCalls()).isEqualTo(before);
        List<Double> after = pages();
        List<Double> pages = IntStream.range(0, after.size())
                .mapToObj(i -> after.get(i) - pagesBefore.get(i))
                .toList();
        int leader = cluster.members().indexOf(cluster.leader());
        assertThat(pages).filteredOn(count -> count >= pages.get(leader)).hasSize(1);

        cluster.followers().get(0).pause();
        await("suspicion").atMost(20, SECONDS).until(() -> observer.glance(PATIENCE)
                .isEmpty());
        cluster.followers().get(0).resume();
    }

    private double unaryCalls() throws Exception {
        return count("grpc_server_started_total", "grpc_type=\"unary\"").stream()
                .mapToDouble(Double::doubleValue)
                .sum();
    }

    /** Metrics pages served, by member. */
    private List<Double> pages() throws Exception {
        return count("promhttp_metric_handler_requests_total", "code=\"200\"");
    }

    private List<Double> count(String metric, String label) throws Exception {
        List<Double> counts = new ArrayList<>();
        for (URI url : cluster.clientUrls()) {
            String page = connections
                    .page(Endpoint.of(url), "/metrics", PATIENCE)
                    .get()
                    .body();
            counts.add(page.lines()
                    .filter(line -> line.startsWith(metric) && line.contains(label))
                    .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                    .sum());
        }
        return counts;
    }

    @Test
    void withoutAQuorumTheListIsTheLocalOneOfTheLastVoter() throws Exception {
        cluster = start("lost", 3, 0);
        EtcdMember last = cluster.leader();
        EtcdObserver observer = observer(last.clientUrl());
        cluster.followers().forEach(EtcdMember::kill);

        await().atMost(20, SECONDS).untilAsserted(() -> {
            ClusterFacts facts = observer.observe(PATIENCE);
            assertThat(facts.isConfirmed()).isFalse();
            assertThat(facts.members()).hasSize(3);
            assertThat(facts.healthyVoters()).isEmpty();
            assertThat(facts.leader()).isEmpty();
            assertThat(facts.named(last.name()).orElseThrow().answer()).isPresent();
        });
    }

    @Test
    void aLookEndsThoughAVoterIsPaused() throws Exception {
        assertThat(lookPastAPausedVoter()).isPositive();
    }

    @Test
    @Tag("speed")
    void aPausedVoterDelaysALookNoLongerThanItsPatience() throws Exception {
        assertThat(lookPastAPausedVoter()).isLessThan(PATIENCE.plusMillis(500));
    }

    /** Returns how long the look takes. The voter stays paused until it has ended. */
    private Duration lookPastAPausedVoter() throws Exception {
        cluster = start("paused", 3, 0);
        EtcdObserver observer = observer(cluster.clientUrls().toArray(URI[]::new));
        observer.observe(PATIENCE.multipliedBy(6));
        EtcdMember victim = cluster.followers().get(0);
        victim.pause();

        long began = System.nanoTime();
        ClusterFacts facts = observer.observe(PATIENCE);
        Duration took = Duration.ofNanos(System.nanoTime() - began);

        assertThat(facts.named(victim.name()).orElseThrow().answer()).isEmpty();
        assertThat(facts.healthyVoters()).hasSize(2);
        victim.resume();
        return took;
    }

    @Test
    void aMemberThatNeverStartedIsListedLastWithoutAName() throws Exception {
        cluster = start("fresh", 1, 0);
        EtcdObserver observer = observer(cluster.clientUrls().get(0));
        URI nowhere = URI.create("http://127.0.0.1:1");

        MemberId added = new EtcdMembership(observer, connections, meters).addLearner(List.of(nowhere));

        ClusterFacts facts = observer.observe(PATIENCE);
        MemberFacts last = facts.members().get(1);
        assertThat(last.id()).isEqualTo(added);
        assertThat(last.hasStarted()).isFalse();
        assertThat(last.isLearner()).isTrue();
        assertThat(last.peerUrls()).containsExactly(nowhere);
        assertThat(last.answer()).isEqualTo(Optional.empty());
    }

    @Test
    void endpointsOfDifferentClustersAreRefused() throws Exception {
        cluster = start("one", 1, 0);
        try (LocalEtcd other = start("other", 1, 0)) {
            EtcdObserver observer =
                    observer(cluster.clientUrls().get(0), other.clientUrls().get(0));

            assertThatThrownBy(() -> observer.observe(PATIENCE))
                    .isInstanceOf(UnobservableException.class)
                    .hasMessageContaining("belong to different clusters")
                    .hasMessageContaining(cluster.clientUrls().get(0).toString())
                    .hasMessageContaining(other.clientUrls().get(0).toString());
        }
    }

    @Test
    void withoutAnyResponseEveryEndpointHasItsCause() {
        EtcdObserver observer = observer(URI.create("http://127.0.0.1:1"), URI.create("http://127.0.0.1:2"));

        assertThatThrownBy(() -> observer.observe(PATIENCE))
                .isInstanceOf(UnobservableException.class)
                .hasMessageContaining("http://127.0.0.1:1: connection refused")
                .hasMessageContaining("http://127.0.0.1:2: connection refused");
    }

    @Test
    void membersAreFoundWhereTheyMayBeIfThoseNamedHaveAllGone() throws Exception {
        cluster = start("replaced", 2, 0);
        EtcdObserver observer = observer(new FallbackEndpoints(members(), 2), URI.create("http://127.0.0.1:1"));

        ClusterFacts first = observer.observe(PATIENCE);
        ClusterFacts second = observer.observe(PATIENCE);

        assertThat(first.members()).hasSize(2).allMatch(MemberFacts::isHealthy);
        assertThat(second.members()).hasSize(2).allMatch(MemberFacts::isHealthy);
        assertThat(observer.votingEndpoints()).containsExactlyInAnyOrderElementsOf(members());
    }

    @Test
    void aLearnerThatIsNamedAloneLeadsToTheOthersByWhereTheyMayBe() throws Exception {
        cluster = start("demoted", 2, 1);
        EtcdObserver observer = observer(
                new FallbackEndpoints(members(), 2), cluster.learners().get(0).clientUrl());

        ClusterFacts facts = observer.observe(PATIENCE);

        assertThat(facts.members()).extracting(MemberFacts::name).contains("demoted-1", "demoted-2", "demoted-3");
        assertThat(facts.members()).allMatch(MemberFacts::isHealthy);
    }

    @Test
    void aRemainingMemberAtAFallbackEndpointIsUnconfirmed() throws Exception {
        cluster = start("left", 2, 0);
        EtcdObserver observer = observer(new FallbackEndpoints(members(), 2), URI.create("http://127.0.0.1:1"));
        cluster.voters().get(1).kill();

        await().atMost(30, SECONDS)
                .untilAsserted(() ->
                        assertThat(observer.observe(PATIENCE).isConfirmed()).isFalse());

        assertThat(observer.observe(PATIENCE).members())
                .filteredOn(member -> member.answer().isPresent())
                .extracting(MemberFacts::name)
                .containsExactly("left-1");
        assertThat(observer.votingEndpoints()).containsExactly(Endpoint.of(URI.create("http://127.0.0.1:1")));
    }

    @Test
    void whereThoseNamedAreSilentAndOthersOfDifferentClustersAnswerNothingIsSilent() {
        cluster = start("one", 1, 0);
        try (LocalEtcd another = start("another", 1, 0)) {
            List<Endpoint> both =
                    List.of(members().get(0), Endpoint.of(another.clientUrls().get(0)));
            EtcdObserver observer = observer(new FallbackEndpoints(both, 2), URI.create("http://127.0.0.1:1"));

            assertThatThrownBy(() -> observer.observe(PATIENCE))
                    .isInstanceOfSatisfying(UnobservableException.class, why -> assertThat(why.isSilence())
                            .isFalse())
                    .hasMessageContaining("different clusters");
        }
    }

    @Test
    void aRecoveryAcceptsTheOneMemberThatItLeft() throws Exception {
        cluster = start("recovered", 1, 0);
        EtcdObserver observer =
                observer(FallbackEndpoints.ofMost(members(), 3).acceptingOneVoter(), URI.create("http://127.0.0.1:1"));

        assertThat(observer.observe(PATIENCE).members()).allMatch(MemberFacts::isHealthy);
    }

    @Test
    void oneMemberThatConfirmsItselfIsNoProofOfTheClusterThatIsMeant() {
        cluster = start("foreign", 1, 0);
        EtcdObserver observer = observer(FallbackEndpoints.ofMost(members(), 1), URI.create("http://127.0.0.1:1"));

        assertThatThrownBy(() -> observer.observe(PATIENCE))
                .isInstanceOfSatisfying(UnobservableException.class, why -> assertThat(why.isSilence())
                        .isTrue())
                .hasMessageContaining("http://127.0.0.1:1: connection refused");
    }

    @Test
    void fallbackEndpointsAreUnusedWhileTheSeedsReachAQuorum() throws Exception {
        cluster = start("named", 1, 0);
        try (LocalEtcd another = start("another", 2, 0)) {
            EtcdObserver observer = observer(
                    new FallbackEndpoints(
                            another.clientUrls().stream().map(Endpoint::of).toList(), 2),
                    cluster.clientUrls().toArray(URI[]::new));

            ClusterFacts facts = observer.observe(PATIENCE);

            assertThat(facts.members()).extracting(MemberFacts::name).containsExactly("named-1");
        }
    }

    @Test
    void aLostQuorumIsNotReplacedByAnotherClusterWhereMembersMayBe() throws Exception {
        cluster = start("lost", 2, 0);
        EtcdMember left = cluster.voters().get(0);
        try (LocalEtcd another = start("another", 2, 0)) {
            cluster.voters().get(1).kill();
            EtcdObserver observer = observer(
                    new FallbackEndpoints(
                            another.clientUrls().stream().map(Endpoint::of).toList(), 2),
                    left.clientUrl());

            await().atMost(30, SECONDS)
                    .untilAsserted(() ->
                            assertThat(observer.observe(PATIENCE).isConfirmed()).isFalse());

            assertThat(observer.observe(PATIENCE).members())
                    .extracting(MemberFacts::name)
                    .containsExactly("lost-1", "lost-2");
        }
    }

    private List<Endpoint> members() {
        return cluster.clientUrls().stream().map(Endpoint::of).toList();
    }

    private EtcdObserver observer(URI... endpoints) {
        return observer(FallbackEndpoints.NOWHERE, endpoints);
    }

    private EtcdObserver observer(FallbackEndpoints fallback, URI... endpoints) {
        EtcdSettings settings = EtcdSettings.of(endpoints);
        connections = EtcdConnections.open(settings);
        EtcdObserver observer = new EtcdObserver(settings, fallback, connections, meters);
        warmUp();
        return observer;
    }

    /** What the first request of a process takes is not to count from the patience with a cluster. */
    private static void warmUp() {
        EtcdSettings nowhere = EtcdSettings.of(URI.create("http://127.0.0.1:1"));
        try (EtcdConnections none = EtcdConnections.open(nowhere)) {
            assertThatThrownBy(() -> new EtcdObserver(nowhere, none, new SimpleMeterRegistry()).observe(PATIENCE))
                    .isInstanceOf(UnobservableException.class);
        }
    }

    private LocalEtcd start(String name, int voters, int learners) {
        LocalEtcd started = LocalEtcd.builder()
                .name(name)
                .voters(voters)
                .learners(learners)
                .fsync(false)
                .strictReconfiguration(false)
                .dataDirectory(folder.resolve(name))
                .build();
        started.start();
        return started;
    }
}
