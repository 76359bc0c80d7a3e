package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.WatchCreateRequest.FilterType;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.hub.HubSettings;
import io.understudy.gateway.replica.ReplicaSettings;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.process.FreePorts;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A gateway that follows a gateway is watched as etcd is, and costs its parent one watcher.
 *
 * <p>Tests invariant V9.
 */
@Timeout(120)
final class WatchChainIT {

    /** Much smaller than the child's. */
    private static final int PARENTS_WINDOW = 20;

    private static final HubSettings LEADERLESS_SOON = new HubSettings(
            HubSettings.DEFAULTS.maxWatchers(),
            HubSettings.DEFAULTS.maxWatchersPerStream(),
            HubSettings.DEFAULTS.catchUpStreams(),
            HubSettings.DEFAULTS.progressInterval(),
            Duration.ofSeconds(1),
            HubSettings.DEFAULTS.bufferBytes());

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static FreePorts ports;
    private static GatewayFixture parent;
    private static GatewayFixture child;
    private static ManagedChannel direct;

    @BeforeAll
    static void start() throws Exception {
        ports = FreePorts.take(1);
        EtcdMember member = member();
        direct = GatewayFixture.channel(
                member.clientUrl().getHost(), member.clientUrl().getPort());
        write("first", "1");
        startParent();
        child = startChild();
    }

    @AfterAll
    static void stop() {
        child.close();
        parent.close();
        direct.shutdownNow();
        ports.close();
    }

    private static void startParent() throws Exception {
        parent = new GatewayFixture(GatewaySettings.of(
                        "parent",
                        new HostPort("127.0.0.1", ports.get(0)),
                        EtcdSettings.of(member().clientUrl()).withName("source"))
                .with(ReplicaSettings.DEFAULTS.withWindowRevisions(PARENTS_WINDOW))
                .with(LEADERLESS_SOON));
        parent.awaitReady();
    }

    private static GatewayFixture startChild() throws Exception {
        GatewayFixture started = new GatewayFixture(GatewaySettings.of(
                        "child",
                        new HostPort("127.0.0.1", 0),
                        EtcdSettings.of(urlOf(parent)).withName("parent"))
                .with(LEADERLESS_SOON));
        started.awaitReady();
        return started;
    }

    @Test
    void theChildAnswersAsEtcdDoes() {
        try (WatchPlayer both = new WatchPlayer(member(), child)) {
            long now = write("s/gone", "1");
            child.awaitRevision(now);
            both.send(0, WatchRequests.createPrefix("s/", create -> create.setPrevKv(true)))
                    .send(1, WatchRequests.createPrefix("s/", create -> create.setStartRevision(now)))
                    .send(2, WatchRequests.createPrefix("s/", create -> create.addFilters(FilterType.NOPUT)))
                    .send(3, WatchRequests.create("s/a", create -> WatchRequests.id(create, 7)))
                    .send(3, WatchRequests.create("s/a", create -> WatchRequests.id(create, 7)))
                    .send(4, WatchRequests.create("s/a", create -> create.setStartRevision(now + 3)))
                    .send(4, WatchRequests.progress())
                    .write(WatchIT.put("s/a", "1"))
                    .write(WatchIT.delete("s/gone"))
                    .write(WatchIT.put("elsewhere", "1"))
                    .send(0, WatchRequests.progress())
                    .write(WatchIT.put("s/a", "2"))
                    .send(4, WatchRequests.progress())
                    .send(3, WatchRequests.cancel(7))
                    .send(3, WatchRequests.progress())
                    .write(WatchIT.delete("s/a"))
                    .assertSame();
            assertThat(both.responses(0)).hasSizeGreaterThan(5);
        }
    }

    @Test
    void hundredsOfWatchersOfTheChildAreOneOfTheParentAndOneOfTheSource() {
        try (WatchClient many = new WatchClient(child.channel())) {
            for (int i = 0; i < 500; i++) {
                many.send(WatchRequests.create("many/" + i));
            }
            await().atMost(PATIENCE).until(() -> watchersOf(child) == 500);
            write("many/77", "1");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(many.eventsOf(77)).hasSize(1));
            assertThat(watchersOf(parent)).isEqualTo(1);
            assertThat(Scrape.sum(member().clientUrl(), "etcd_debugging_mvcc_watcher_total"))
                    .isEqualTo(1);
        }
        await().atMost(PATIENCE).until(() -> watchersOf(child) == 0);
    }

    @Test
    void theChildServesCommitsThatItsParentHasDropped() {
        long start = write("w/0", "1");
        for (int i = 1; i < 3 * PARENTS_WINDOW; i++) {
            write("w/" + i % 5, Integer.toString(i));
        }
        try (WatchPlayer both = new WatchPlayer(member(), child)) {
            both.write(WatchIT.put("w/0", "last"))
                    .send(0, WatchRequests.createPrefix("w/", create -> create.setStartRevision(start)
                            .setPrevKv(true)));
            both.assertSameEvents(0, 0);
            assertThat(both.ofGateway(0).eventsOf(0)).hasSize(3 * PARENTS_WINDOW + 1);
        }
    }

    @Test
    void compactionsOfTheSourceAreReportedThroughTheParent() throws Exception {
        long first = write("c", "1");
        for (int i = 0; i < 2 * PARENTS_WINDOW; i++) {
            write("c", Integer.toString(i));
        }
        long compacted = write("c", "compacted");
        SOURCE.cluster().etcdctl("compact", Long.toString(compacted));
        long last = write("c", "last");
        parent.awaitRevision(last);
        // A child that has not read the compacted commits.
        try (GatewayFixture fresh = startChild();
                WatchPlayer both = new WatchPlayer(member(), fresh)) {
            both.send(0, WatchRequests.create("c", create -> create.setStartRevision(first)));
            await().atMost(PATIENCE).until(() -> both.responses(0).size() == 2);
            assertThat(both.responses(0)).last().asString().contains("canceled compact=" + compacted);
            both.assertSame();
            both.burst(() -> both.send(1, WatchRequests.create("c", create -> create.setStartRevision(compacted))));
            both.assertSameEvents(1, 0);
            assertThat(both.ofGateway(1).eventsOf(0)).hasSize(2);
        }
    }

    @Test
    void aRestartOfTheParentIsNotSeenByTheChildsWatchers() throws Exception {
        try (WatchClient ofEtcd = new WatchClient(direct);
                WatchClient ofChild = new WatchClient(child.channel())) {
            for (WatchClient each : List.of(ofEtcd, ofChild)) {
                each.send(WatchRequests.createPrefix("p/", create -> create.setPrevKv(true)));
            }
            WatchIT.awaitResponses(ofEtcd, 1);
            WatchIT.awaitResponses(ofChild, 1);
            write("p/1", "before");
            parent.close();
            for (int i = 0; i < 3 * PARENTS_WINDOW; i++) {
                write("p/" + i % 3, "meanwhile " + i);
            }
            String large = "x".repeat(1_000_000);
            for (int i = 0; i < 4; i++) {
                write("p/large", large + i);
            }
            startParent();
            write("p/1", "after");

            await().atMost(PATIENCE).untilAsserted(() -> assertThat(ofChild.eventsOf(0))
                    .hasSize(3 * PARENTS_WINDOW + 6)
                    .isEqualTo(ofEtcd.eventsOf(0)));
            assertThat(ofChild.status()).isNull();
        }
    }

    @Test
    void writesAcknowledgedAtTheSourceAreReadAtTheChild() {
        RangeRequest linearizable = RangeRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8("acknowledged"))
                .build();
        for (int i = 0; i < 20; i++) {
            write("acknowledged", Integer.toString(i));
            assertThat(child.kv().range(linearizable).getKvs(0).getValue().toStringUtf8())
                    .isEqualTo(Integer.toString(i));
        }
    }

    @Test
    void theChildIsAsOldAsItsParent() {
        RangeRequest bounded = RangeRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8("first"))
                .setSerializable(true)
                .build();
        await().atMost(PATIENCE).until(() -> isYoungerThan(Duration.ofMillis(900)));
        member().pause();
        // Although the parent still answers the child.
        await().atMost(PATIENCE).until(() -> !isYoungerThan(Duration.ofMillis(1500)));
        assertThatThrownBy(() -> child.kv("understudy-max-staleness-ms", "1000").range(bounded))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("understudy: staleness is ");
        assertThat(child.kv().range(bounded).getKvsCount()).isEqualTo(1);
        member().resume();
        await().atMost(PATIENCE).until(() -> isYoungerThan(Duration.ofMillis(900)));
    }

    @Test
    void aLostLeaderIsReportedThroughTheParentIfRequested() {
        try (WatchClient patient = new WatchClient(child.channel());
                WatchClient requiring = new WatchClient(child.channel(), "hasleader", "true")) {
            for (WatchClient each : List.of(patient, requiring)) {
                each.send(WatchRequests.create("l"));
                WatchIT.awaitResponses(each, 1);
            }
            member().pause();
            // The child's own stream at the parent is one of those.
            await().atMost(PATIENCE).until(() -> requiring.status() != null && watchersOf(parent) == 0);
            member().resume();
            write("l", "1");
            write("l", "2");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(patient.eventsOf(0)).hasSize(2));
            assertThat(requiring.status().getDescription()).isEqualTo("etcdserver: no leader");
            assertThat(patient.status()).isNull();
        }
    }

    private static boolean isYoungerThan(Duration limit) {
        Duration staleness = child.gateway.staleness();
        return staleness != null && staleness.compareTo(limit) < 0;
    }

    private static double watchersOf(GatewayFixture gateway) {
        return Scrape.sum(urlOf(gateway), "understudy_gateway_watchers");
    }

    private static URI urlOf(GatewayFixture gateway) {
        return URI.create("http://127.0.0.1:" + gateway.gateway.apiPort());
    }

    private static EtcdMember member() {
        return SOURCE.cluster().members().get(0);
    }

    private static long write(String key, String value) {
        return WatchIT.put(key, value).applyAsLong(GatewayFixture.kv(direct));
    }
}
