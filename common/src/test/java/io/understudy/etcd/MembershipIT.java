package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.feed.etcd.MemberMetrics;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.EtcdRequestException;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The member list is followed; each test has a cluster of its own.
 *
 * <p>Tests invariant E4.
 */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
@Tag("core")
final class MembershipIT {

    @RegisterExtension
    final EtcdExtension etcd = EtcdExtension.voters(3).learners(1).named("members");

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private EtcdCluster cluster;

    @BeforeEach
    void connect() {
        cluster = EtcdCluster.connect(EtcdSettings.of(etcd.cluster().leader().clientUrl()), new SimpleMeterRegistry());
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(cluster.view().members()).hasSize(4));
    }

    @AfterEach
    void close() {
        cluster.close();
    }

    @Test
    void aPromotedLearnerBecomesAVoterAndMayBeWatched() {
        EtcdMember learner = etcd.cluster().learners().get(0);
        assertThat(cluster.endpointsFor(Duty.WATCH)).doesNotContain(endpoint(learner));

        await().atMost(PATIENCE).ignoreException(EtcdRequestException.class).until(() -> {
            etcd.cluster().promote(learner);
            return true;
        });

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(cluster.view().members(Role.VOTER))
                .hasSize(4));
        assertThat(cluster.view().members(Role.LEARNER)).isEmpty();
        assertThat(cluster.endpointsFor(Duty.WATCH)).contains(endpoint(learner));
    }

    @Test
    void aRemovedMemberIsDroppedAndAnAddedOneIsUsed() {
        EtcdMember removed = etcd.cluster().followers().get(0);
        MemberId removedId = new MemberId(removed.id());
        Endpoint gone = endpoint(removed);

        etcd.cluster().remove(removed);

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(cluster.view().member(removedId))
                .isEmpty());
        assertThat(cluster.endpointsFor(Duty.WATCH)).hasSize(2).doesNotContain(gone);

        EtcdMember added = etcd.cluster().addVoter();

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                        cluster.view().member(new MemberId(added.id())).map(Member::health))
                .contains(Health.HEALTHY));
        assertThat(cluster.endpointsFor(Duty.WATCH)).hasSize(3).contains(endpoint(added));
    }

    @Test
    void anIdleClusterIsProbedWithoutRequestsOfItsMemberList() {
        List<EtcdMember> members = etcd.cluster().members();
        await().atMost(PATIENCE).until(() -> {
            long lists = MemberMetrics.requests(members, "MemberList");
            long probes = MemberMetrics.requests(members, "Status");
            await().atMost(PATIENCE).until(() -> MemberMetrics.requests(members, "Status") >= probes + 12);
            return MemberMetrics.requests(members, "MemberList") == lists;
        });
    }

    @Test
    void theClusterIsStillReachedWhenTheOnlySeedIsRemoved() {
        EtcdMember seed = etcd.cluster().leader();
        MemberId seedId = new MemberId(seed.id());

        etcd.cluster().remove(seed);

        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(cluster.view().member(seedId)).isEmpty();
            assertThat(cluster.view().leader().map(Member::id)).isPresent().isNotEqualTo(seedId);
        });
        assertThat(cluster.readIndex(Duration.ofSeconds(20)).join().revision().value())
                .isPositive();
        // A seed remains a way back in, however unlikely.
        assertThat(cluster.endpointsFor(Duty.WATCH)).contains(endpoint(seed));
    }

    private static Endpoint endpoint(EtcdMember member) {
        return Endpoint.of(member.clientUrl());
    }
}
