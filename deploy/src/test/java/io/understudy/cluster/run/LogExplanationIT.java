package io.understudy.cluster.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.NoMachines;
import io.understudy.cluster.membership.EtcdMembership;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.vocabulary.MemberId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Why a member of real etcd ends instead of joining, recognised by the end of its log. */
final class LogExplanationIT {

    @TempDir
    private Path folder;

    private LocalEtcd cluster;
    private EtcdMember voter;
    private EtcdMember learner;
    private EtcdConnections connections;
    private EtcdObserver observer;

    @BeforeEach
    void start() {
        cluster = LocalEtcd.builder()
                .name("joining")
                .voters(1)
                .learners(1)
                .fsync(false)
                .dataDirectory(folder)
                .build();
        cluster.start();
        voter = cluster.voters().get(0);
        learner = cluster.learners().get(0);
        EtcdSettings settings = EtcdSettings.of(voter.clientUrl());
        connections = EtcdConnections.open(settings);
        observer = new EtcdObserver(settings, connections, new SimpleMeterRegistry());
    }

    @AfterEach
    void stop() {
        connections.close();
        cluster.close();
    }

    @Test
    void aMemberListLongerThanTheCluster() throws Exception {
        String members = voter + "=" + peerUrl(voter) + "," + learner + "=" + peerUrl(learner);
        learner.wipe();
        learner.arguments("--initial-cluster=" + members + ",another=http://127.0.0.1:1");

        learner.launch();

        assertThatItEndsWith("member count is unequal", "must list exactly the members of the cluster");
    }

    @Test
    void aPeerUrlThatDiffersFromTheMemberList() throws Exception {
        URI other = URI.create("http://127.0.0.1:1");
        String members = voter + "=" + peerUrl(voter) + "," + learner + "=" + other;
        learner.wipe();
        learner.arguments("--initial-cluster=" + members, "--initial-advertise-peer-urls=" + other);

        learner.launch();

        assertThatItEndsWith(
                "PeerURLs: no match found for existing member", "a different peer URL for a member than the cluster");
    }

    @Test
    void oneWithATakenPort() throws IOException {
        learner.stop();
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            learner.arguments("--listen-client-urls=http://127.0.0.1:" + taken.getLocalPort());

            learner.launch();

            await().atMost(Duration.ofSeconds(30)).until(() -> !learner.isAlive());
            assertThat(taken.isBound()).isTrue();
        }
        MemberSpec member = new MemberSpec(learner.name(), List.of(), List.of(learner.clientUrl()));
        Machines machines = new NoMachines() {
            @Override
            public List<String> endOfLog(MemberSpec of) {
                return learner.log().tail(400);
            }
        };
        assertThat(LogExplanation.ofExited(List.of(member), machines))
                .startsWith(
                        "; " + learner.name() + " has exited; etcd reports \"address already in use\": another process"
                                + " listens on one of its addresses; its log:\n  ");
    }

    /** The reason is above the usage text. */
    @Test
    void oneWithAFlagThatItsVersionDoesNotHave() {
        learner.stop();
        learner.arguments("--no-such-flag=1");

        learner.launch();

        await().atMost(Duration.ofSeconds(30)).until(() -> !learner.isAlive());
        assertThat(LogExplanation.reason(learner.log().tail(400)))
                .containsExactly("flag provided but not defined: -no-such-flag");
    }

    @Test
    void aPanicIsShownByItsMessage() {
        assertThat(LogExplanation.reason(List.of(
                        "{\"level\":\"info\",\"msg\":\"Running: \"}",
                        "panic: freepages: failed to get all reachable pages",
                        "",
                        "goroutine 1 [running]:",
                        "main.main()",
                        "\tgo.etcd.io/etcd/server/v3@v3.6.16/main.go:31 +0x28")))
                .containsExactly("panic: freepages: failed to get all reachable pages");
    }

    @Test
    void oneThatWasRemovedAndStartsAgain() throws Exception {
        learner.stop();
        new EtcdMembership(observer, connections, new SimpleMeterRegistry()).remove(new MemberId(learner.id()));

        learner.launch();

        assertThatItEndsWith("has been permanently removed from the cluster", "use an empty data directory");
    }

    private void assertThatItEndsWith(String words, String meaning) {
        await().atMost(Duration.ofSeconds(30)).until(() -> !learner.isAlive());
        assertThat(LogExplanation.of(learner.log().tail(30)))
                .as("%s", learner.log().tail(30))
                .hasValueSatisfying(
                        explanation -> assertThat(explanation).contains(words).contains(meaning));
    }

    private URI peerUrl(EtcdMember member) throws InterruptedException {
        return observer.observe(Duration.ofSeconds(30))
                .named(member.name())
                .orElseThrow()
                .peerUrls()
                .get(0);
    }
}
