package io.understudy.cluster.status;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterFacts.Divergence;
import io.understudy.cluster.observe.Failure;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.MemberFacts.Measurements;
import io.understudy.cluster.observe.MemberFacts.MemberProcess;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.status.ClusterStatus.Warning;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.Role;
import io.understudy.etcd.StorageStatus;
import io.understudy.report.TextTable;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a status has beyond the answers of the members. */
final class ClusterStatusTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<MemberSpec> MACHINES = machines(4);

    @Test
    void anUnhealthyMemberHasItsCauseAndTheToleranceAfterAnotherFailureIsShown() throws Exception {
        ClusterStatus status = status(facts(), Optional.empty(), List.of());
        JsonNode page = JSON.readTree(StatusJson.of(status));

        assertThat(page.path("tolerance").asInt()).isZero();
        assertThat(page.path("toleranceAfterFailure").asInt()).isEqualTo(-1);
        assertThat(page.path("asDeclared").asBoolean()).isTrue();
        JsonNode silent = page.path("members").get(2);
        assertThat(silent.path("health").asText()).isEqualTo("no answer");
        assertThat(silent.path("reason").asText()).isEqualTo("connection refused");
        assertThat(page.path("members").get(0).path("quotaBytes").asLong()).isEqualTo(2048);
        assertThat(page.path("members").get(0).has("reason")).isFalse();
        assertThat(StatusText.of(status))
                .contains("after another failure: no quorum; standbys: none", "m3: connection refused")
                .anyMatch(line -> line.contains("QUOTA"));
    }

    @Test
    void whatIsMissingOfADeclaredShapeIsNamed() {
        Shape shape = new Shape(3, 1, Set.of("m5"), false, 2);
        List<Warning> deviations = status(facts(), Optional.of(new DeclaredMembers(shape, machines(5))), List.of())
                .warnings();
        assertThat(deviations)
                .extracting(Warning::text)
                .contains("standbys: 0 of 1 declared", "read replicas that are not members: m5");
        assertThat(status(
                                facts(),
                                Optional.of(new DeclaredMembers(new Shape(5, 0, Set.of(), false, 1), List.of())),
                                List.of())
                        .isAsDeclared())
                .isFalse();
        // With machines for three voting members, three are what the declaration leads to.
        assertThat(status(
                                facts(),
                                Optional.of(new DeclaredMembers(new Shape(5, 0, Set.of(), false, 1), MACHINES)),
                                List.of())
                        .isAsDeclared())
                .isTrue();
    }

    /** As a supervisor counts, which never promotes it. */
    @Test
    void aLearnerOutsideTheConfigurationIsNoStandby() {
        List<MemberFacts> members = new ArrayList<>(facts().members());
        members.add(member(9, Role.LEARNER, true, Optional.empty()));
        ClusterFacts facts = new ClusterFacts(new ClusterId(1), members, true, List.of(), Instant.EPOCH);
        Shape shape = new Shape(3, 1, Set.of(), false, 1);

        ClusterStatus status = status(facts, Optional.of(new DeclaredMembers(shape, MACHINES)), List.of());

        assertThat(status.standbys()).isEmpty();
        assertThat(status.isAsDeclared()).isFalse();
        assertThat(status.warnings()).extracting(Warning::text).contains("standbys: 0 of 1 declared");
        assertThat(status(facts, Optional.of(new DeclaredMembers(shape, List.of())), List.of())
                        .standbys())
                .containsExactly("m9");
    }

    @Test
    void aReadReplicaThatVotesIsNotAsDeclared() {
        Shape shape = new Shape(3, 0, Set.of("m3"), false, 1);

        ClusterStatus status = status(facts(), Optional.of(new DeclaredMembers(shape, MACHINES)), List.of());

        assertThat(status.isAsDeclared()).isFalse();
        assertThat(status.warnings()).extracting(Warning::text).contains("read replicas that are voting members: m3");
        Shape asStandby = new Shape(3, 0, Set.of("m3"), true, 1);
        assertThat(status(facts(), Optional.of(new DeclaredMembers(asStandby, MACHINES)), List.of())
                        .isAsDeclared())
                .isTrue();
    }

    @Test
    void clocksThatDifferAreAWarning() {
        assertThat(status(withClocks(-4, 1), Optional.empty(), List.of()).warnings())
                .extracting(Warning::rule)
                .doesNotContain("clocks-differ");
        ClusterStatus status = status(withClocks(-4, 2), Optional.empty(), List.of());
        assertThat(status.warnings())
                .extracting(Warning::text)
                .contains("the clock of m2 is 6 s ahead of that of m1. Synchronize the clocks (NTP)");
        assertThat(status.isHealthy()).isTrue();
    }

    @Test
    void aDatabaseNearItsQuotaIsAWarning() {
        assertThat(status(facts(), Optional.empty(), List.of()).warnings())
                .extracting(Warning::rule)
                .doesNotContain("database-nearly-full");
        MemberFacts half = member(1, true);
        MemberFacts full = new MemberFacts(
                half.id(),
                half.name(),
                half.role(),
                half.peerUrls(),
                half.clientUrls(),
                half.answer(),
                half.measurements(),
                new MemberProcess(Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(1270L)));
        assertThat(half.databaseFill()).contains(0.5);
        ClusterFacts facts =
                new ClusterFacts(new ClusterId(1), List.of(full, member(2, true)), true, List.of(), Instant.EPOCH);
        assertThat(status(facts, Optional.empty(), List.of()).warnings())
                .extracting(Warning::text)
                .contains("the database takes over 80 % of its quota: m1. Compact and defragment, or raise"
                        + " --quota-backend-bytes");
    }

    @Test
    void theDecisionOfEachSupervisorIsShownAndItsSilence() throws Exception {
        URI url = URI.create("http://127.0.0.1:8082");
        SupervisorView active = new SupervisorView(url, Optional.of(JSON.readTree("""
                        {"supervisor": "s1", "standing": "active", "paused": null, "decision": {"rule": "standby-failover",
                        "observed": "m3 is suspect", "action": "waits", "outcome": "none", "detail": ""}}""")), "");
        SupervisorView silent = new SupervisorView(url, Optional.empty(), "no supervisor reachable");
        ClusterStatus status = status(facts(), Optional.empty(), List.of(active, silent));

        assertThat(active.mayAct()).isTrue();
        // Under an alarm no supervisor is elected; after it, one is.
        assertThat(new SupervisorView(url, Optional.of(JSON.readTree("""
                        {"supervisor": "s2", "standing": "unknown: no leader", "paused": null}""")), "").mayAct())
                .isTrue();
        assertThat(new SupervisorView(url, Optional.of(JSON.readTree("""
                        {"supervisor": "s2", "standing": "unknown: no leader", "paused": "manually"}""")), "").mayAct())
                .isFalse();
        assertThat(silent.mayAct()).isFalse();
        assertThat(StatusText.of(status))
                .contains("supervisor s1, active: standby-failover: m3 is suspect; waits", "no supervisor reachable");
        JsonNode supervisors = JSON.readTree(StatusJson.of(status)).path("supervisors");
        assertThat(supervisors.get(0).path("decision").path("action").asText()).isEqualTo("waits");
        assertThat(supervisors.get(1).path("failure").asText()).isEqualTo("no supervisor reachable");
    }

    @Test
    void aMemberIsOneLineOfEachTableThoughNamesAndNumbersAreLong() {
        ClusterFacts facts = new ClusterFacts(
                new ClusterId(-1),
                List.of(
                        member("core-member-eu-west-1a", 1, Role.VOTER),
                        member("core-member-eu-west-1b", 2, Role.VOTER),
                        member("core-member-eu-west-1c", 3, Role.VOTER),
                        member("standby-member-eu-west-1d", 4, Role.LEARNER)),
                true,
                List.of(),
                Instant.EPOCH,
                Divergence.NONE,
                Map.of());
        assertThat(StatusText.of(status(facts, Optional.empty(), List.of())))
                .allMatch(line -> line.length() <= TextTable.WIDTH)
                .filteredOn(line -> line.matches("(MEMBER|[a-z]+-member-eu-west-1[a-d]) .*"))
                .hasSize(10);
    }

    private static MemberFacts member(String name, int number, Role role) {
        MemberAnswer answer = new MemberAnswer(
                EtcdVersion.parse("3.6.16"),
                Optional.of(new MemberId(-1)),
                12_345,
                123_456_789_012L,
                123_456_789_012L,
                new Revision(98_765_432_109L),
                8L << 30,
                7L << 30,
                true,
                List.of(),
                StorageStatus.NONE);
        return new MemberFacts(
                new MemberId(-number),
                name,
                role,
                List.of(URI.create("https://" + name + ".understudy.example.com:2380")),
                List.of(URI.create("https://" + name + ".understudy.example.com:2379")),
                Optional.of(answer),
                Measurements.NONE,
                new MemberProcess(Optional.empty(), Optional.empty(), Optional.empty(), Optional.of(16L << 30)));
    }

    private static List<MemberSpec> machines(int last) {
        return IntStream.rangeClosed(1, last)
                .mapToObj(number -> new MemberSpec(
                        "m" + number, List.of(URI.create("http://10.0.0." + number + ":2380")), List.of()))
                .toList();
    }

    private static ClusterStatus status(
            ClusterFacts facts, Optional<DeclaredMembers> declared, List<SupervisorView> supervisors) {
        return ClusterStatus.of(facts, declared, List.of(), supervisors);
    }

    /** Three voting members, of which the last does not answer. */
    private static ClusterFacts facts() {
        return new ClusterFacts(
                new ClusterId(1),
                List.of(member(1, true), member(2, true), member(3, false)),
                true,
                List.of(),
                Instant.EPOCH,
                Divergence.NONE,
                Map.of(new MemberId(3), new Failure("connection refused", false, false)));
    }

    private static ClusterFacts withClocks(long first, long second) {
        return new ClusterFacts(
                new ClusterId(1),
                List.of(
                        member(1, Role.VOTER, true, Optional.of(Duration.ofSeconds(first))),
                        member(2, Role.VOTER, true, Optional.of(Duration.ofSeconds(second)))),
                true,
                List.of(),
                Instant.EPOCH);
    }

    private static MemberFacts member(int number, boolean answers) {
        return member(number, Role.VOTER, answers, Optional.empty());
    }

    private static MemberFacts member(int number, Role role, boolean answers, Optional<Duration> clockAhead) {
        MemberAnswer answer = new MemberAnswer(
                EtcdVersion.parse("3.6.5"),
                Optional.of(new MemberId(1)),
                2,
                9,
                9,
                new Revision(5),
                1024,
                512,
                true,
                List.of(),
                StorageStatus.NONE);
        return new MemberFacts(
                new MemberId(number),
                "m" + number,
                role,
                List.of(URI.create("http://10.0.0." + number + ":2380")),
                List.of(),
                answers ? Optional.of(answer) : Optional.empty(),
                Measurements.NONE,
                new MemberProcess(
                        Optional.empty(),
                        clockAhead,
                        Optional.empty(),
                        answers ? Optional.of(2048L) : Optional.empty()));
    }
}
