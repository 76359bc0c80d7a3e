package io.understudy.local.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.process.CommandFailedException;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PartitionIT {

    @RegisterExtension
    static final EtcdExtension etcd = EtcdExtension.voters(3).behindProxies();

    @Test
    void anIsolatedLeaderIsReplacedAndCatchesUpAfterHealing() {
        LocalEtcd cluster = etcd.cluster();
        EtcdMember old = cluster.leader();
        cluster.isolate(old);
        await().atMost(Duration.ofSeconds(30)).until(() -> cluster.leader() != old);
        String majority = "--endpoints=" + cluster.leader().directClientUrl();
        cluster.etcdctl(majority, "put", "during", "the partition");

        assertThatThrownBy(() -> cluster.etcdctl(
                        "--endpoints=" + old.directClientUrl(), "--command-timeout=2s", "put", "minority", "x"))
                .isInstanceOf(CommandFailedException.class);
        assertThat(cluster.etcdctl("--endpoints=" + old.clientUrl(), "get", "--consistency=s", "during"))
                .as("clients still reach the isolated member, which is behind")
                .isEmpty();

        cluster.heal();
        await().atMost(Duration.ofSeconds(30))
                .until(() -> cluster.etcdctl("--endpoints=" + old.clientUrl(), "get", "--consistency=s", "during")
                        .contains("the partition"));
    }

    @Test
    void oneLinkCanBeBrokenWhileTheOthersCarryOn() {
        LocalEtcd cluster = etcd.cluster();
        EtcdMember leader = cluster.leader();
        EtcdMember cutOff = cluster.followers().get(0);
        EtcdMember between = cluster.followers().get(1);
        cluster.partition(Set.of(cutOff), Set.of(between));
        cluster.etcdctl("put", "triangle", "open");
        for (EtcdMember member : Set.of(leader, cutOff, between)) {
            await().until(() -> cluster.etcdctl(
                            "--endpoints=" + member.clientUrl(), "get", "--consistency=s", "triangle")
                    .contains("open"));
        }
        assertThat(cluster.leader()).isEqualTo(leader);
    }

    @Test
    void clientsThatGoThroughTheProxyFeelItsFaults() {
        LocalEtcd cluster = etcd.cluster();
        EtcdMember member = cluster.members().get(0);
        assertThat(member.clientUrl()).isNotEqualTo(member.directClientUrl());
        member.clientProxy().cut();
        assertThatThrownBy(() ->
                        cluster.etcdctl("--endpoints=" + member.clientUrl(), "--command-timeout=2s", "get", "anything"))
                .isInstanceOf(CommandFailedException.class);
    }
}
