package io.understudy.local.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.process.CommandFailedException;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class LocalEtcdIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @RegisterExtension
    static final EtcdExtension etcd = EtcdExtension.voters(3).learners(1);

    private LocalEtcd cluster;

    @BeforeEach
    void take() {
        cluster = etcd.cluster();
    }

    @Test
    void aWriteIsReadFromEveryVoterAndTheLearner() {
        cluster.etcdctl("put", "play", "hamlet");
        assertThat(cluster.voters()).hasSize(3);
        assertThat(cluster.learners()).hasSize(1);
        cluster.members().forEach(member -> awaitValue(member, "play", "hamlet"));
    }

    @Test
    void whenTheLeaderIsKilledAnotherLeadsAndTheOldOneComesBackWithItsDataAndId() {
        EtcdMember old = cluster.leader();
        long id = old.id();
        cluster.etcdctl("put", "before", "1");
        old.kill();
        assertThat(old.isAlive()).isFalse();
        assertThat(cluster.leader()).isNotEqualTo(old);
        cluster.etcdctl("put", "without", "2");
        old.start();
        assertThat(old.id()).isEqualTo(id);
        awaitValue(old, "before", "1");
        awaitValue(old, "without", "2");
    }

    @Test
    void aPausedMemberIsThereButAnswersOnlyWhenResumed() {
        EtcdMember follower = cluster.followers().get(0);
        follower.pause();
        assertThat(follower.isAlive()).isTrue();
        assertThatThrownBy(follower::status)
                .isInstanceOf(EtcdRequestException.class)
                .hasMessageContaining(follower.directClientUrl().toString());
        follower.resume();
        await().atMost(PATIENCE)
                .ignoreExceptions()
                .until(() -> follower.status().memberId() == follower.id());
    }

    @Test
    void aWipedVoterRejoinsWithAnotherIdAndCatchesUp() {
        cluster.etcdctl("put", "wiped", "no");
        EtcdMember follower = cluster.followers().get(0);
        long id = follower.id();
        follower.wipe();
        follower.start();
        assertThat(follower.id()).isNotEqualTo(id);
        awaitValue(follower, "wiped", "no");
    }

    @Test
    void aWipedLearnerIsALearnerAgain() {
        EtcdMember learner = cluster.learners().get(0);
        learner.wipe();
        learner.start();
        assertThat(learner.status().learner()).isTrue();
    }

    @Test
    void leadershipMovesToTheMemberNamed() {
        EtcdMember target = cluster.followers().get(0);
        cluster.moveLeader(target);
        assertThat(cluster.leader()).isEqualTo(target);
        assertThat(cluster.followers()).hasSize(2).doesNotContain(target);
    }

    @Test
    void aMemberTakesMoreArgumentsForItsNextStart() {
        EtcdMember follower = cluster.followers().get(0);
        follower.arguments("--max-txn-ops=7");
        follower.restart();
        assertThat(follower.log().from(0)).contains("\"--max-txn-ops=7\"");
        follower.arguments();
    }

    @Test
    void aFailedToolReportsTheCause() {
        assertThatThrownBy(() -> cluster.etcdctl("get"))
                .isInstanceOf(CommandFailedException.class)
                .hasMessageContaining("etcdctl")
                .hasMessageContaining("get command needs");
    }

    private void awaitValue(EtcdMember member, String key, String value) {
        await().atMost(PATIENCE).until(() -> cluster.etcdctl(
                        "--endpoints=" + member.clientUrl(), "get", "--consistency=s", "--print-value-only", key)
                .strip()
                .equals(value));
    }
}
