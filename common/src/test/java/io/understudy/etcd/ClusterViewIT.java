package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What is known of a real cluster while its members come, go, stall and change.
 *
 * <p>Tests invariant E3.
 */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
final class ClusterViewIT {

    @RegisterExtension
    static final EtcdExtension etcd =
            EtcdExtension.voters(3).learners(1).named("view").behindProxies();

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private EtcdCluster cluster;

    @BeforeEach
    void connect() {
        cluster =
                EtcdCluster.connect(EtcdSettings.of(etcd.cluster().clientUrls().toArray(URI[]::new)), meters);
    }

    @AfterEach
    void close() {
        cluster.close();
    }

    @Test
    void showsRolesNamesHealthAndLeader() {
        awaitAllHealthy();

        // A member answers before the one that lists it has applied its name.
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(cluster.view().members(Role.VOTER)).hasSize(3);
            assertThat(cluster.view().members(Role.LEARNER)).singleElement().satisfies(learner -> {
                EtcdMember member = etcd.cluster().learners().get(0);
                assertThat(learner.id()).isEqualTo(id(member));
                assertThat(learner.name()).isEqualTo(member.name());
                assertThat(learner.version().atLeast(3, 5, 0)).isTrue();
                assertThat(learner.raftTerm()).isPositive();
                assertThat(learner.revision().value()).isPositive();
            });
            assertThat(cluster.view().leaderId()).isEqualTo(id(etcd.cluster().leader()));
        });
        ClusterView view = cluster.view();
        assertThat(view.clusterId()).isNotNull();
        assertThat(view.unidentified()).isEmpty();
        assertThat(view.foreign()).isEmpty();
        assertThat(meters.get("understudy.etcd.members")
                        .tags("role", "voter", "health", "healthy")
                        .gauge()
                        .value())
                .isEqualTo(3);
    }

    @Test
    void findsAllMembersFromOneSeed() {
        try (EtcdCluster one = EtcdCluster.connect(
                EtcdSettings.of(etcd.cluster().voters().get(0).clientUrl()), new SimpleMeterRegistry())) {
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(one.view().members()).hasSize(4).allMatch(ClusterViewIT::isHealthy));
        }
    }

    @Test
    void discoversNoMemberThroughALearner() {
        try (EtcdCluster one = EtcdCluster.connect(
                EtcdSettings.of(etcd.cluster().learners().get(0).clientUrl()), new SimpleMeterRegistry())) {
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(one.view().members(Role.LEARNER))
                    .singleElement()
                    .matches(ClusterViewIT::isHealthy));
            assertThat(one.endpointsFor(Duty.SNAPSHOT))
                    .containsExactly(endpoint(etcd.cluster().learners().get(0)));
            assertThat(one.endpointsFor(Duty.WATCH)).isEmpty();
        }
    }

    @Test
    void usesConfiguredEndpointsOnlyWhenConfiguredSo() {
        List<EtcdMember> configured = List.of(
                etcd.cluster().voters().get(0), etcd.cluster().learners().get(0));
        EtcdSettings settings = EtcdSettings.of(
                        configured.stream().map(EtcdMember::clientUrl).toArray(URI[]::new))
                .withDiscovery(MemberDiscovery.CONFIGURED);
        try (EtcdCluster some = EtcdCluster.connect(settings, new SimpleMeterRegistry())) {
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(some.view().members()).hasSize(4);
                assertThat(some.endpointsFor(Duty.SNAPSHOT))
                        .containsExactly(endpoint(configured.get(1)), endpoint(configured.get(0)));
            });
        }
    }

    @Test
    void noticesLongBeforeTheNextLookThatAMemberIsBack() {
        EtcdMember away = etcd.cluster().learners().get(0);
        EtcdSettings often = EtcdSettings.of(etcd.cluster().clientUrls().toArray(URI[]::new));
        EtcdSettings settings = new EtcdSettings(
                often.name(),
                often.endpoints(),
                often.discovery(),
                Duration.ofSeconds(10),
                often.requestTimeout(),
                often.tls(),
                often.login());
        try (EtcdCluster seldom = EtcdCluster.connect(settings, new SimpleMeterRegistry())) {
            await().atMost(PATIENCE).until(() -> health(seldom, away) == Health.HEALTHY);
            away.clientProxy().cut();
            await().atMost(PATIENCE).until(() -> health(seldom, away) == Health.UNREACHABLE);
            away.clientProxy().heal();
            await().atMost(Duration.ofSeconds(6)).until(() -> health(seldom, away) == Health.HEALTHY);
        }
    }

    @Test
    void followsTheLeader() {
        awaitAllHealthy();
        EtcdMember target = etcd.cluster().followers().get(0);

        etcd.cluster().moveLeader(target);

        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(cluster.view().leaderId()).isEqualTo(id(target)));
        assertThat(cluster.endpointsFor(Duty.WRITE)).first().isEqualTo(endpoint(target));
        assertThat(cluster.endpointsFor(Duty.WATCH)).hasSize(3).last().isEqualTo(endpoint(target));
    }

    @Test
    void noticesAKilledMemberAndItsReturn() {
        awaitAllHealthy();
        EtcdMember killed = etcd.cluster().followers().get(0);

        killed.kill();

        awaitHealth(killed, Health.UNREACHABLE);
        assertThat(cluster.endpointsFor(Duty.WATCH)).hasSize(3).last().isEqualTo(endpoint(killed));
        killed.start();
        awaitHealth(killed, Health.HEALTHY);
    }

    @Test
    void noticesAPausedMemberWhileTheOthersStayCurrent() {
        awaitAllHealthy();
        EtcdMember paused = etcd.cluster().followers().get(0);

        paused.pause();
        awaitHealth(paused, Health.UNREACHABLE);

        // Two more commits are each seen at the others while probes of the paused one time out.
        for (int i = 0; i < 2; i++) {
            etcd.cluster().etcdctl("put", "paused", Integer.toString(i));
            long revision = revisionOf(etcd.cluster().leader());
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(cluster.view().members())
                            .filteredOn(member -> !member.id().equals(id(paused)))
                            .hasSize(3)
                            .allMatch(member -> member.revision().value() >= revision));
        }
        paused.resume();
        awaitHealth(paused, Health.HEALTHY);
    }

    @Test
    void noticesACutAndABlackHole() {
        awaitAllHealthy();
        EtcdMember cut = etcd.cluster().voters().get(0);
        EtcdMember blackHole = etcd.cluster().voters().get(1);

        cut.clientProxy().cut();
        blackHole.clientProxy().blackHole();
        awaitHealth(cut, Health.UNREACHABLE);
        awaitHealth(blackHole, Health.UNREACHABLE);

        cut.clientProxy().heal();
        blackHole.clientProxy().heal();
        awaitAllHealthy();
    }

    @Test
    void noMemberIsHealthyWithoutAMajority() {
        awaitAllHealthy();
        EtcdMember left = etcd.cluster().voters().get(0);

        etcd.cluster().voters().stream().filter(voter -> voter != left).forEach(EtcdMember::kill);

        awaitHealth(left, Health.LEADERLESS);
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(cluster.view().leaderId()).isNull());
        assertThat(cluster.endpointsFor(Duty.SNAPSHOT).subList(0, 2))
                .containsExactlyInAnyOrder(
                        endpoint(left), endpoint(etcd.cluster().learners().get(0)));
    }

    private void awaitAllHealthy() {
        await().atMost(PATIENCE)
                .untilAsserted(
                        () -> assertThat(cluster.view().members()).hasSize(4).allMatch(ClusterViewIT::isHealthy));
    }

    private void awaitHealth(EtcdMember member, Health health) {
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                        cluster.view().member(id(member)).map(Member::health))
                .contains(health));
    }

    private static Health health(EtcdCluster at, EtcdMember member) {
        return at.view().member(id(member)).map(Member::health).orElse(Health.UNKNOWN);
    }

    private static long revisionOf(EtcdMember member) {
        return member.status().revision();
    }

    private static boolean isHealthy(Member member) {
        return member.health() == Health.HEALTHY;
    }

    private static MemberId id(EtcdMember member) {
        return new MemberId(member.id());
    }

    private static Endpoint endpoint(EtcdMember member) {
        return Endpoint.of(member.clientUrl());
    }
}
