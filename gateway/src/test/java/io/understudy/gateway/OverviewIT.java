package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.AlarmType;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.grpc.ManagedChannel;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.dashboard.DashboardSettings;
import io.understudy.local.etcd.LocalEtcd;
import io.vertx.core.json.JsonObject;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The overview of the dashboard.
 *
 * <p>Tests invariants D1, D1b, D1c.
 */
@Timeout(120)
final class OverviewIT {

    /** The time in which a change must be reported. */
    private static final Duration SOON = Duration.ofSeconds(3);

    @TempDir
    private Path folder;

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @Test
    void lostMembersAndALostQuorumAreReported() throws Exception {
        lostMembersAreReportedWithin(PATIENCE);
    }

    @Test
    @Tag("speed")
    void lostMembersAndALostQuorumAreReportedSoon() throws Exception {
        lostMembersAreReportedWithin(SOON);
    }

    private void lostMembersAreReportedWithin(Duration soon) throws Exception {
        try (LocalEtcd cluster = cluster(3, 1);
                GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(cluster))) {
            fixture.awaitReady();
            await().atMost(PATIENCE).untilAsserted(() -> {
                JsonObject core = overview(fixture).getJsonObject("core");
                assertThat(core.getString("quorum")).isEqualTo("held");
                assertThat(core.getInteger("tolerance")).isEqualTo(1);
                assertThat(members(core).map(member -> member.getString("role")))
                        .containsExactlyInAnyOrder("voter", "voter", "voter", "learner");
                assertThat(members(core).map(member -> member.getString("health")))
                        .containsOnly("healthy");
                assertThat(members(core).filter(member -> member.getBoolean("leads")))
                        .hasSize(1);
            });
            var followers = cluster.voters().stream()
                    .filter(member -> !member.equals(cluster.leader()))
                    .toList();

            followers.get(0).kill();
            await().atMost(soon).untilAsserted(() -> {
                JsonObject core = overview(fixture).getJsonObject("core");
                assertThat(members(core)
                                .filter(member -> member.getString("health").equals("unreachable")))
                        .hasSize(1);
                assertThat(core.getString("quorum")).isEqualTo("held");
                assertThat(core.getInteger("tolerance")).isZero();
            });

            followers.get(1).kill();
            await().atMost(soon).untilAsserted(() -> {
                JsonObject core = overview(fixture).getJsonObject("core");
                assertThat(core.getString("quorum")).isEqualTo("lost");
            });
        }
    }

    @Test
    void alarmsAreReportedUntilTheyAreDisarmed() throws Exception {
        alarmsAreReportedWithin(PATIENCE);
    }

    @Test
    @Tag("speed")
    void alarmsAreReportedSoonUntilTheyAreDisarmed() throws Exception {
        alarmsAreReportedWithin(SOON);
    }

    private void alarmsAreReportedWithin(Duration soon) throws Exception {
        try (LocalEtcd cluster = cluster(1, 0);
                GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(cluster))) {
            fixture.awaitReady();
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(alarms(overview(fixture))).isEmpty());

            var source = cluster.members().get(0);
            URI url = source.directClientUrl();
            ManagedChannel channel = GatewayFixture.channel(url.getHost(), url.getPort());
            try {
                AlarmRequest.Builder alarm =
                        AlarmRequest.newBuilder().setMemberID(source.id()).setAlarm(AlarmType.NOSPACE);
                var maintenance = MaintenanceGrpc.newBlockingStub(channel);
                var unusedRaised = maintenance.alarm(
                        alarm.setAction(AlarmRequest.AlarmAction.ACTIVATE).build());
                await().atMost(soon).untilAsserted(() -> assertThat(alarms(overview(fixture)))
                        .containsExactly(new JsonObject().put("kind", "NOSPACE").put("member", source.name())));

                var unusedLifted = maintenance.alarm(
                        alarm.setAction(AlarmRequest.AlarmAction.DEACTIVATE).build());
                await().atMost(soon).untilAsserted(() -> assertThat(alarms(overview(fixture)))
                        .isEmpty());
            } finally {
                channel.shutdownNow();
            }
        }
    }

    @Test
    void neighboursArePolledAndReportedAsMissing() throws Exception {
        neighboursAreReportedAsMissingWithin(PATIENCE);
    }

    @Test
    @Tag("speed")
    void neighboursArePolledEverySecondAndReportedAsMissingSoon() throws Exception {
        neighboursAreReportedAsMissingWithin(SOON);
    }

    private void neighboursAreReportedAsMissingWithin(Duration soon) throws Exception {
        CountDownLatch paused = new CountDownLatch(1);
        HttpServer mirror = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        mirror.setExecutor(Executors.newCachedThreadPool());
        var mute = new AtomicBoolean();
        mirror.createContext("/status", exchange -> {
            if (mute.get()) {
                try {
                    paused.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
            byte[] status = """
                    {"mirrors":[{"name":"dr","source":"etcd [http://127.0.0.1:1]","target":"kafka broker topic t",
                    "state":"synced","lagMillis":12}]}
                    """.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, status.length);
            exchange.getResponseBody().write(status);
            exchange.close();
        });
        mirror.createContext("/state", exchange -> {
            byte[] state =
                    "{\"supervisor\":\"s\",\"standing\":\"active\",\"pace\":61000}".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, state.length);
            exchange.getResponseBody().write(state);
            exchange.close();
        });
        mirror.start();
        URI url = URI.create("http://127.0.0.1:" + mirror.getAddress().getPort());
        URI unreachable = URI.create("http://127.0.0.1:1");
        try (LocalEtcd cluster = cluster(1, 0);
                GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(cluster)
                        .with(new DashboardSettings(true, List.of(), List.of(url), List.of(unreachable, url), null)));
                EventSource events = new EventSource(url(fixture, "/v1/overview/events"))) {
            fixture.awaitReady();
            await().atMost(PATIENCE).untilAsserted(() -> {
                JsonObject seen = overview(fixture);
                JsonObject process = seen.getJsonArray("mirrors").getJsonObject(0);
                assertThat(process.getBoolean("reachable")).isTrue();
                JsonObject dr = process.getJsonArray("mirrors").getJsonObject(0);
                assertThat(dr.getString("source_kind")).isEqualTo("etcd");
                assertThat(dr.getString("target_kind")).isEqualTo("kafka");
                assertThat(dr.getString("label")).isEqualTo("dr");
                JsonObject supervisor = seen.getJsonArray("supervisors").getJsonObject(0);
                assertThat(supervisor.getBoolean("reachable")).isFalse();
                assertThat(supervisor.getString("told")).isNotBlank();
                JsonObject other = seen.getJsonArray("supervisors").getJsonObject(1);
                assertThat(other.getString("standing")).isEqualTo("active");
                assertThat(other.getLong("pace_ms")).isEqualTo(61_000);
                assertThat(lastSample(events).getDouble("mirror.dr.lag_ms")).isEqualTo(12);
            });

            mute.set(true);
            await().atMost(soon).untilAsserted(() -> {
                JsonObject process = overview(fixture).getJsonArray("mirrors").getJsonObject(0);
                assertThat(process.getBoolean("reachable")).isFalse();
                assertThat(process.getString("told")).isEqualTo("no response within 1000 ms");
                // Its last report is still shown.
                assertThat(process.getJsonArray("mirrors")).hasSize(1);
            });
        } finally {
            paused.countDown();
            mirror.stop(0);
        }
    }

    @Test
    void reconnectingClientsReceiveTheSamplesThatTheyMissed() throws Exception {
        try (LocalEtcd cluster = cluster(1, 0);
                GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(cluster))) {
            fixture.awaitReady();
            long last;
            try (EventSource events = new EventSource(url(fixture, "/v1/overview/events"))) {
                await().atMost(PATIENCE).until(() -> events.events.size() >= 3);
                assertThat(events.events.get(0).type()).isEqualTo("history");
                assertThat(events.events.subList(1, 3))
                        .extracting(EventSource.Event::type)
                        .containsOnly("overview");
                last = Long.parseLong(events.events.get(1).id());
            }
            long known = last;
            HttpResponse<Stream<String>> again = http.send(
                    HttpRequest.newBuilder(url(fixture, "/v1/overview/events"))
                            .header("Last-Event-ID", Long.toString(known))
                            .build(),
                    BodyHandlers.ofLines());
            try (Stream<String> lines = again.body()) {
                String data = lines.filter(line -> line.startsWith("data: "))
                        .findFirst()
                        .orElseThrow();
                JsonObject history = new JsonObject(data.substring("data: ".length()));
                assertThat(history.getString("gateway"))
                        .isEqualTo(overview(fixture).getJsonObject("gateway").getString("name"));
                assertThat(history.getJsonArray("times").stream().map(time -> ((Number) time).longValue()))
                        .isNotEmpty()
                        .allSatisfy(time -> assertThat(time).isGreaterThan(known));
            }
        }
    }

    @Test
    void withAuthenticationOnlyRootReadsTheOverview() throws Exception {
        try (LocalEtcd cluster = cluster(1, 0);
                Users users = new Users(cluster);
                GatewayFixture fixture = new GatewayFixture(GatewaySettings.of(
                        "test",
                        new HostPort("127.0.0.1", 0),
                        EtcdSettings.of(cluster.clientUrls().toArray(new URI[0]))
                                .withName("source")
                                .withLogin(Users.root())))) {
            users.add("reader");
            fixture.awaitReady();
            for (String path : List.of("/v1/overview", "/v1/overview/samples?from=1")) {
                assertThat(status(fixture, path, null)).isEqualTo(401);
                assertThat(status(fixture, path, users.token("reader"))).isEqualTo(403);
                assertThat(status(fixture, path, users.token(Users.ROOT))).isEqualTo(200);
            }
        }
    }

    private LocalEtcd cluster(int voters, int learners) {
        LocalEtcd cluster = LocalEtcd.builder()
                .name("core")
                .dataDirectory(folder)
                .voters(voters)
                .learners(learners)
                .fsync(false)
                .build();
        cluster.start();
        return cluster;
    }

    private int status(GatewayFixture fixture, String path, @Nullable String token) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(url(fixture, path));
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        return http.send(request.build(), BodyHandlers.discarding()).statusCode();
    }

    private static JsonObject lastSample(EventSource events) {
        EventSource.Event last = events.events.get(events.events.size() - 1);
        assertThat(last.type()).isEqualTo("overview");
        return new JsonObject(last.data()).getJsonObject("sample").getJsonObject("values");
    }

    private JsonObject overview(GatewayFixture fixture) throws Exception {
        HttpResponse<String> answer =
                http.send(HttpRequest.newBuilder(url(fixture, "/v1/overview")).build(), BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(200);
        return new JsonObject(answer.body());
    }

    private static List<Object> alarms(JsonObject overview) {
        return overview.getJsonObject("core").getJsonArray("alarms").stream().toList();
    }

    private static Stream<JsonObject> members(JsonObject core) {
        return core.getJsonArray("members").stream().map(JsonObject.class::cast);
    }

    private static URI url(GatewayFixture fixture, String path) {
        return URI.create("http://127.0.0.1:" + fixture.gateway.restPort() + path);
    }
}
