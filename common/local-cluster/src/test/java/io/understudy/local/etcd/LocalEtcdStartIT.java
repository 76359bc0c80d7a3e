package io.understudy.local.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.local.process.FreePorts;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalEtcdStartIT {

    @TempDir
    Path folder;

    @Test
    void aClusterContinuesWithTheDataOfAnEarlierOne() {
        try (FreePorts ports = FreePorts.take(4)) {
            LocalEtcdBuilder same = LocalEtcd.builder()
                    .name("core")
                    .dataDirectory(folder)
                    .fsync(false)
                    .learners(1)
                    .clientPorts(ports.get(0), ports.get(1))
                    .peerPorts(ports.get(2), ports.get(3));
            long learner;
            try (LocalEtcd first = same.build()) {
                first.start();
                first.etcdctl("put", "kept", "yes");
                learner = first.learners().get(0).id();
                first.stop();
                assertThat(first.members()).noneMatch(EtcdMember::isAlive);
            }
            try (LocalEtcd second = same.build()) {
                second.start();
                assertThat(second.etcdctl("get", "kept")).contains("yes");
                assertThat(second.learners().get(0).id()).isEqualTo(learner);
                assertThat(second.clientUrls().get(0).getPort()).isEqualTo(ports.get(0));
            }
        }
    }

    @Test
    void withEtcdsOwnChecksALearnerStillJoinsOnceTheMembersHaveBeenConnectedLongEnough() {
        try (LocalEtcd cluster = LocalEtcd.builder()
                .dataDirectory(folder)
                .voters(2)
                .learners(1)
                .fsync(false)
                .build()) {
            cluster.start();
            assertThat(cluster.learners().get(0).status().learner()).isTrue();
        }
    }

    @Test
    void aRestoredSnapshotIsAnotherHistoryUnderTheSameIds() {
        try (LocalEtcd cluster = LocalEtcd.builder()
                .dataDirectory(folder.resolve("cluster"))
                .voters(2)
                .fsync(false)
                .build()) {
            cluster.start();
            cluster.etcdctl("put", "history", "first");
            MemberStatus before = cluster.leader().status();
            List<Long> ids = cluster.voters().stream().map(EtcdMember::id).toList();
            Path snapshot = folder.resolve("backup.db");
            cluster.snapshot(snapshot);
            cluster.etcdctl("put", "history", "lost");

            cluster.restore(snapshot);

            MemberStatus after = cluster.leader().status();
            assertThat(cluster.etcdctl("get", "--print-value-only", "history").strip())
                    .isEqualTo("first");
            assertThat(after.revision()).isEqualTo(before.revision());
            assertThat(after.clusterId()).isEqualTo(before.clusterId());
            assertThat(cluster.voters().stream().map(EtcdMember::id)).isEqualTo(ids);
        }
    }

    @Test
    void aSecondLearnerIsRefusedBeforeAnythingStarts() {
        LocalEtcdBuilder tooMany =
                LocalEtcd.builder().dataDirectory(folder).learners(9).name("greedy");
        assertThatThrownBy(tooMany::build)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("greedy")
                .hasMessageContaining("requested: 9");
    }

    @Test
    void aPortInUseIsNamedBeforeAnythingStarts() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                FreePorts peers = FreePorts.take(1);
                LocalEtcd cluster = LocalEtcd.builder()
                        .dataDirectory(folder)
                        .clientPorts(taken.getLocalPort())
                        .peerPorts(peers.get(0))
                        .build()) {
            assertThatThrownBy(cluster::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("port " + taken.getLocalPort()
                            + " of member etcd-1 for clients is in use by another process");
            assertThat(cluster.members()).noneMatch(EtcdMember::isAlive);
        }
    }

    @Test
    void aMemberThatEndsWhileStartingIsNamedWithTheEndOfItsLogAndNothingIsLeftRunning() {
        try (LocalEtcd cluster = LocalEtcd.builder()
                .dataDirectory(folder)
                .voters(2)
                .fsync(false)
                .extraArguments("--heartbeat-interval=1000")
                .build()) {
            assertThatThrownBy(cluster::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("member etcd-1 ended with status 1")
                    .hasMessageContaining("should be at least as 5 times as --heartbeat-interval");
            assertThat(cluster.members()).noneMatch(EtcdMember::isAlive);
        }
    }

    @Test
    void dataOfALearnerWithoutAnyOfAVoterIsRefused() throws IOException {
        Files.createDirectories(folder.resolve("etcd-2").resolve("data").resolve("member"));
        try (LocalEtcd cluster =
                LocalEtcd.builder().dataDirectory(folder).learners(1).build()) {
            assertThatThrownBy(cluster::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("etcd-2")
                    .hasMessageContaining("delete the directory");
        }
    }

    @Test
    void portsMustBeOnePerMember() {
        assertThatThrownBy(() -> LocalEtcd.builder()
                        .dataDirectory(folder)
                        .voters(3)
                        .clientPorts(1, 2)
                        .build())
                .hasMessageContaining("3 members but 2 client ports");
    }
}
