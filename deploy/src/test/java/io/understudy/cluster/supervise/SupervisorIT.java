package io.understudy.cluster.supervise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.supervise.SupervisorState.Event;
import io.understudy.cluster.supervise.rule.Decision;
import io.understudy.monitoring.Scrape;
import io.understudy.vocabulary.ElectionState;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Supervisors of real clusters.
 *
 * <p>Tests invariant DP26.
 */
final class SupervisorIT {

    private static final Duration DEAD = Duration.ofSeconds(2);
    private static final String SHAPE = """
            voters: 3
            standbys: 1
            deadTime: 2s
            stableTime: 1s
            holdOff: 5s
            joinDeadline: 60s
            """;

    /** With what machines take to start a member. */
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    /** Each look at the cluster reads the metrics pages of all members. */
    private static final Duration LOOK = Duration.ofMillis(300);

    @TempDir
    private Path folder;

    @Test
    void aHungVoterIsReplacedAndAFlappingOneIsNotChased() throws Exception {
        try (SupervisedCluster cluster = SupervisedCluster.found(folder, 5, 3, SHAPE);
                Writer writer = Writer.start(cluster.clientUrls())) {
            SupervisorProcess supervisor = cluster.supervise();
            await("the standby to join").atMost(PATIENCE).pollInterval(LOOK).until(() -> cluster.isOf(3, 1));
            await("all to be settled").atMost(PATIENCE).until(() -> isSettled(supervisor));
            Set<String> before = cluster.voters();

            for (int flap = 0; flap < 2; flap++) {
                cluster.pause(0);
                await("m1 to be missed")
                        .atMost(PATIENCE)
                        .pollInterval(Duration.ofMillis(50))
                        .until(() -> !answers(supervisor, "m1"));
                cluster.resume(0);
                await().atMost(PATIENCE).pollInterval(LOOK).until(() -> cluster.isOf(3, 1));
            }
            // Only our own way to it is cut: the others still have it among their peers.
            cluster.cutClients(1);
            await("m2 to be missed").atMost(PATIENCE).until(() -> !answers(supervisor, "m2"));
            Instant missed = supervisor.state().lookedAt().orElseThrow();
            await("looks for longer than the dead time").atMost(PATIENCE).until(() -> {
                assertThat(answers(supervisor, "m2")).isFalse();
                return supervisor.state().lookedAt().orElseThrow().isAfter(missed.plus(DEAD.plusSeconds(2)));
            });
            cluster.heal(1);
            assertThat(cluster.voters()).isEqualTo(before);

            await("all to be settled")
                    .atMost(PATIENCE)
                    .pollInterval(LOOK)
                    .until(() -> isSettled(supervisor) && cluster.isOf(3, 1));
            String hung = cluster.follower(1, 2);
            Duration took = replaces(cluster, hung, () -> cluster.pause(hung));
            System.out.printf(
                    "a hung voter was replaced after %d ms, %d ms after the dead time; longest stall of writes %d"
                            + " ms%n",
                    took.toMillis(),
                    took.minus(DEAD).toMillis(),
                    writer.longestStall().toMillis());

            await("another standby to join").atMost(PATIENCE).pollInterval(LOOK).until(() -> cluster.isOf(3, 1));
            assertThat(writer.lost()).isEmpty();
            StateClient client = new StateClient(URI.create("http://127.0.0.1:" + supervisor.port()), null);
            assertThat(client.state())
                    .contains("standby-failover", hung + " is hung since", "it is removed, then m4 is promoted");
            Scrape.of(URI.create("http://127.0.0.1:" + supervisor.port() + "/metrics"))
                    .assertDeclaredAndWellFormed(folder);
            assertThat(page(supervisor, "/livez")).isEqualTo("ok\n");
            assertThat(page(supervisor, "/readyz?verbose"))
                    .startsWith("[+]looks ok\n[+]standing ok: active\n[+]cluster ok: ");
            pausedNothingIsChanged(cluster, supervisor, client);
        }
    }

    @Test
    @Tag("speed")
    void aDeadVoterIsReplacedWithinSecondsOfTheDeadTime() throws Exception {
        try (SupervisedCluster cluster = SupervisedCluster.found(folder, 5, 3, SHAPE)) {
            SupervisorProcess supervisor = cluster.supervise();
            await("all to be settled")
                    .atMost(PATIENCE)
                    .pollInterval(LOOK)
                    .until(() -> isSettled(supervisor) && cluster.isOf(3, 1));
            assertThat(replaces(cluster, "m3", () -> cluster.kill(2))).isLessThan(DEAD.plusSeconds(5));
        }
    }

    /** Returns how long it takes after a fault until m4 votes in that member's place. */
    private static Duration replaces(SupervisedCluster cluster, String member, Runnable fault) {
        Set<String> after = new HashSet<>(Set.of("m1", "m2", "m3", "m4"));
        after.remove(member);
        long began = System.nanoTime();
        fault.run();
        await("the standby to vote").atMost(PATIENCE).pollInterval(LOOK).until(() -> cluster.voters()
                .equals(after));
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private static String page(SupervisorProcess supervisor, String path) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + supervisor.port() + path);
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString())
                .body();
    }

    private static void pausedNothingIsChanged(
            SupervisedCluster cluster, SupervisorProcess supervisor, StateClient client) throws Exception {
        assertThat(client.pause()).isEqualTo("paused\n");
        Set<String> before = cluster.voters();
        cluster.kill(0);
        await("it to be seen dead").atMost(PATIENCE).until(() -> supervisor
                .state()
                .last()
                .filter(event -> event.outcome() == Event.Outcome.PAUSED)
                .isPresent());
        assertThat(cluster.voters()).isEqualTo(before);
        assertThat(client.resume()).isEqualTo("resumed\n");
        // It is replaced, or else started, if the standby is not ready within twice the dead time.
        await("three healthy voting members")
                .atMost(PATIENCE)
                .pollInterval(LOOK)
                .until(() -> cluster.look()
                        .filter(facts -> facts.isConfirmed()
                                && facts.voters().size() == 3
                                && facts.healthyVoters().size() == 3)
                        .isPresent());
    }

    @Test
    void whatOneSupervisorBeganTheOtherFinishes() throws Exception {
        try (SupervisedCluster cluster =
                        SupervisedCluster.found(folder, 3, 1, SHAPE.replace("standbys: 1", "standbys: 0"));
                Writer writer = Writer.start(cluster.clientUrls())) {
            SupervisedCluster.SupervisorJvm first = cluster.superviseApart();
            await("it to act").atMost(PATIENCE).until(first::isActive);
            SupervisorProcess second = cluster.supervise();
            await("the first change").atMost(PATIENCE).until(() -> cluster.look()
                    .filter(facts -> facts.members().size() > 1)
                    .isPresent());
            first.process().destroyForcibly();
            await("the other to act")
                    .atMost(PATIENCE)
                    .until(() -> second.state().standing() instanceof ElectionState.Active);
            await("the declared shape").atMost(PATIENCE).pollInterval(LOOK).until(() -> cluster.isOf(3, 0));
            assertThat(writer.lost()).isEmpty();
        }
    }

    @Test
    void withoutAQuorumOwnMembersAreStartedWithTheirData() throws Exception {
        try (SupervisedCluster cluster =
                        SupervisedCluster.found(folder, 3, 3, SHAPE.replace("standbys: 1", "standbys: 0"));
                Writer writer = Writer.start(cluster.clientUrls())) {
            SupervisorProcess supervisor = cluster.supervise();
            await("all to be settled")
                    .atMost(PATIENCE)
                    .pollInterval(LOOK)
                    .until(() -> isSettled(supervisor) && cluster.isOf(3, 0));
            cluster.kill(0);
            cluster.kill(1);
            await("both to be started").atMost(PATIENCE).pollInterval(LOOK).until(() -> cluster.isOf(3, 0));
            assertThat(supervisor.state().events())
                    .filteredOn(event -> event.decision() instanceof Decision.Change)
                    .extracting(event -> event.decision().rule())
                    .containsOnly("restart");
            assertThat(writer.lost()).isEmpty();
        }
    }

    /** Whether a member answered the supervisor in its last look. */
    private static boolean answers(SupervisorProcess supervisor, String member) {
        return supervisor
                .state()
                .facts()
                .flatMap(facts -> facts.named(member))
                .flatMap(MemberFacts::answer)
                .isPresent();
    }

    private static boolean isSettled(SupervisorProcess supervisor) {
        return supervisor
                .state()
                .last()
                .filter(event -> event.decision() instanceof Decision.Settled)
                .isPresent();
    }
}
