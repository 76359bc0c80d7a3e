package io.understudy.cli;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.Gateway;
import io.understudy.gateway.GatewaySettings;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.binary.ProgramVersion;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The output of {@code understudy cluster status} for real clusters, whole, damaged and lost.
 *
 * <p>Tests invariant DP27.
 */
final class ClusterStatusIT {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path folder;

    private LocalEtcd cluster;

    /** What a command printed, and how it ended. */
    private record Ended(int status, String out, String err) {}

    @AfterEach
    void stop() {
        if (cluster != null) {
            cluster.close();
        }
    }

    @Test
    void threeVotersAndALearnerAreHealthyAndSurviveOneFailure() throws Exception {
        start("whole", 3, 1);

        Ended table = status(cluster.voters().get(0).clientUrl());
        JsonNode page = page(cluster.voters().get(0).clientUrl());

        assertThat(table.err()).isEmpty();
        assertThat(table.status()).isZero();
        assertThat(table.out())
                .contains(": 3 voters, 3 healthy, 2 needed: survives 1 more failure\n")
                .containsPattern("MEMBER +ID +ROLE +HEALTH +DB MIB +IN USE +QUOTA")
                .containsPattern("MEMBER +VERSION +TERM +RAFT INDEX +APPLIED +LAG +REVISION")
                .containsPattern(cluster.leader().name() + " +[0-9a-f]+ +leader +healthy ")
                .containsPattern("whole-4 +[0-9a-f]+ +learner +healthy ")
                .doesNotContain("even-size");
        assertThat(table.out().contains("learner-slot-taken: before 3.6, etcd allows one learner, which is whole-4"))
                .isEqualTo(!EtcdBinaries.find().version().isAtLeast(new ProgramVersion(3, 6, 0)));
        assertThat(page.path("healthy").asBoolean()).isTrue();
        assertThat(page.path("confirmed").asBoolean()).isTrue();
        assertThat(page.path("tolerance").asInt()).isEqualTo(1);
        assertThat(page.path("leader").asText())
                .isEqualTo(Long.toHexString(cluster.leader().id()));
        assertThat(page.path("members")).hasSize(4).allSatisfy(member -> {
            assertThat(member.path("health").asText()).isEqualTo("healthy");
            assertThat(member.path("raftIndex").asLong()).isPositive();
            assertThat(member.path("databaseBytes").asLong()).isPositive();
            assertThat(member.path("lag").isIntegralNumber()).isTrue();
        });
        aGatewayLeadsToTheMembers(page);
    }

    /** It confirms nothing itself; the voters that it lists do. */
    private void aGatewayLeadsToTheMembers(JsonNode direct) throws Exception {
        HostPort anyPort = new HostPort("127.0.0.1", 0);
        EtcdSettings source = EtcdSettings.of(cluster.voters().get(0).clientUrl());
        try (Gateway gateway = Gateway.start(GatewaySettings.of("gateway", anyPort, source))) {
            await().until(() -> gateway.staleness() != null);
            URI endpoint = URI.create("http://127.0.0.1:" + gateway.apiPort());

            assertThat(status(endpoint).status()).isZero();
            JsonNode page = page(endpoint);
            assertThat(page.path("confirmed").asBoolean()).isTrue();
            assertThat(page.path("members").findValuesAsText("id"))
                    .isEqualTo(direct.path("members").findValuesAsText("id"));
        }
    }

    @Test
    void oneDeadVoterOfThreeIsNamedAndNothingMoreMayFail() {
        start("dead", 3, 0);
        EtcdMember victim = cluster.followers().get(0);
        victim.kill();

        await().atMost(30, SECONDS).untilAsserted(() -> {
            Ended ended = status(cluster.leader().clientUrl());
            assertThat(ended.status()).isEqualTo(1);
            assertThat(ended.out())
                    .contains(": 3 voters, 2 healthy, 2 needed: survives no more failure\n")
                    .containsPattern(victim.name() + " +[0-9a-f]+ +voter +no answer +- +-")
                    .doesNotContain("quorum-lost");
        });
    }

    @Test
    void aLostQuorumIsReportedWithTheMostRecentMember() {
        start("lost", 3, 0);
        EtcdMember left = cluster.leader();
        cluster.followers().forEach(EtcdMember::kill);

        await().atMost(60, SECONDS).untilAsserted(() -> {
            Ended ended = status(left.clientUrl(), "--timeout=5s");
            assertThat(ended.status()).isEqualTo(1);
            assertThat(ended.out())
                    .contains(": 3 voters, 0 healthy, 2 needed: quorum lost, 1 voter answers\n")
                    .contains(
                            "quorum-lost: no writes or changes are possible: 2 of 3 voting members are required, 1 responds."
                                    + " Responding: " + left.name() + "; most recent data: " + left.name())
                    .contains("unconfirmed: ")
                    .containsPattern(left.name() + " +[0-9a-f]+ +voter +no leader ");
        });
        assertThat(page(left.clientUrl(), "--timeout=5s").path("mostRecent").asText())
                .isEqualTo(Long.toHexString(left.id()));
    }

    @Test
    void aMemberThatWasAddedButNeverStartedIsListedWithItsPeerUrl() {
        start("fresh", 1, 0);
        cluster.etcdctl("member", "add", "nobody", "--learner", "--peer-urls=http://127.0.0.1:1");

        Ended ended = status(cluster.clientUrls().get(0));

        assertThat(ended.status()).isEqualTo(1);
        assertThat(ended.out())
                .contains(": 1 voter, 1 healthy, 1 needed: survives no more failure\n")
                .containsPattern("\n- +[0-9a-f]+ +learner +never started ")
                .containsPattern("never-started: [0-9a-f]+ at http://127.0.0.1:1 was added but never started");
    }

    @Test
    void anAlarmIsReported() {
        start("alarm", 1, 0);
        cluster.etcdctl("put", "key", "value");
        EtcdMember member = cluster.members().get(0);
        member.stop();
        member.arguments("--quota-backend-bytes=1");
        member.start();
        await().atMost(30, SECONDS).untilAsserted(() -> {
            assertThat(put()).contains("database space exceeded");
            Ended ended = status(member.clientUrl());
            assertThat(ended.out()).contains("\nalarm: NOSPACE of alarm-1\n");
            assertThat(ended.status()).isEqualTo(1);
        });
    }

    /** Its limit is not part of the replicated state: a member with another one accepts what the others reject. */
    @Test
    void aMemberWithAnotherListIsNamedAndCanBeRemoved() {
        assumeTrue(EtcdBinaries.find().version().isAtLeast(new ProgramVersion(3, 6, 0)));
        start("limit", 3, 0);
        EtcdMember apart = cluster.members().get(0);
        cluster.members().stream().filter(other -> other != apart).forEach(other -> {
            other.stop();
            other.arguments("--max-learners=1");
            other.start();
        });
        cluster.etcdctl("member", "add", "idle", "--learner", "--peer-urls=http://127.0.0.2:1");
        try {
            cluster.etcdctl("member", "add", "idle", "--learner", "--peer-urls=http://127.0.0.2:2");
        } catch (RuntimeException e) {
            assertThat(e).hasMessageContaining("too many learner members");
        }

        await().atMost(30, SECONDS).untilAsserted(() -> {
            Ended ended = status(apart.clientUrl());
            assertThat(ended.status()).isEqualTo(1);
            assertThat(ended.out())
                    .contains("members-differ: members contradict each other: limit-1 lists 5 members")
                    .contains("Remove limit-1 (understudy cluster remove)");
        });
        StringWriter text = new StringWriter();
        PrintWriter both = new PrintWriter(text, true);
        String endpoints = cluster.clientUrls().stream().map(URI::toString).collect(Collectors.joining(","));
        assertThat(Understudy.run(both, both, "cluster", "remove", "limit-1", "--yes", "--endpoints", endpoints))
                .as("%s", text)
                .isZero();
        assertThat(status(cluster.members().get(1).clientUrl()).out()).doesNotContain("members-differ");
    }

    @Test
    void anUnreachableClusterIsReportedInOneLine() {
        Ended ended = status(URI.create("http://127.0.0.1:1"));

        assertThat(ended.status()).isEqualTo(1);
        assertThat(ended.out()).isEmpty();
        assertThat(ended.err())
                .startsWith("understudy cluster status: no endpoint reachable: http://127.0.0.1:1: connection refused")
                .hasLineCount(1);
    }

    private String put() {
        try {
            return cluster.etcdctl("put", "key", "value");
        } catch (RuntimeException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private JsonNode page(URI endpoint, String... more) {
        String[] arguments =
                Stream.concat(Stream.of("--output=json"), Stream.of(more)).toArray(String[]::new);
        try {
            return JSON.readTree(status(endpoint, arguments).out());
        } catch (JsonProcessingException e) {
            throw new AssertionError(e);
        }
    }

    private static Ended status(URI endpoint, String... more) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        // Where all answer or refuse, no time-out is waited for.
        List<String> flags = more.length == 0 ? List.of("--timeout=30s") : List.of(more);
        List<String> arguments = Stream.concat(
                        Stream.of("cluster", "status", "--endpoints", endpoint.toString()), flags.stream())
                .toList();
        int status = Understudy.run(
                new PrintWriter(out, true), new PrintWriter(err, true), arguments.toArray(String[]::new));
        return new Ended(status, out.toString(), err.toString());
    }

    private void start(String name, int voters, int learners) {
        cluster = LocalEtcd.builder()
                .name(name)
                .voters(voters)
                .learners(learners)
                .fsync(false)
                .strictReconfiguration(false)
                .dataDirectory(folder.resolve(name))
                .build();
        cluster.start();
    }
}
