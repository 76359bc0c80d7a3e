package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A gateway of {@code app/} with the one permission that docs/operate/security.md lists, and without it. */
@Timeout(120)
final class LeastPrivilegesIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).learners(1).named("source");

    private static Users users;

    @BeforeAll
    static void start() {
        users = new Users(SOURCE.cluster());
        users.add("gateway");
        SOURCE.cluster().etcdctl("--user=root:root", "role", "grant-permission", "gateway", "--prefix", "read", "app/");
        put("app/a");
        put("other");
    }

    @AfterAll
    static void stop() {
        users.close();
    }

    @Test
    void withItItServesItsRange() throws Exception {
        try (GatewayFixture fixture = gateway("gateway")) {
            fixture.awaitReady();
            KVGrpc.KVBlockingStub root = KVGrpc.newBlockingStub(Users.as(users.token("root"), fixture.channel()))
                    .withDeadlineAfter(30, TimeUnit.SECONDS);
            for (boolean serializable : new boolean[] {true, false}) {
                RangeResponse read =
                        root.range(range("app/a").setSerializable(serializable).build());
                assertThat(read.getCount()).isEqualTo(1);
            }
            put("app/b");
            await().untilAsserted(() -> assertThat(
                            root.range(range("app/b").setSerializable(true).build())
                                    .getCount())
                    .isEqualTo(1));
        }
    }

    @Test
    void otherKeysAreReadAndWatchedAsTheCaller() throws Exception {
        users.add("guest");
        try (GatewayFixture fixture = gateway("gateway")) {
            fixture.awaitReady();
            RangeRequest other = range("other").build();
            KVGrpc.KVBlockingStub root = KVGrpc.newBlockingStub(Users.as(users.token("root"), fixture.channel()))
                    .withDeadlineAfter(30, TimeUnit.SECONDS);
            assertThat(root.range(other).getCount()).isEqualTo(1);
            assertThat(root.txn(TxnRequest.newBuilder()
                                    .addSuccess(RequestOp.newBuilder().setRequestRange(range("app/a")))
                                    .addSuccess(RequestOp.newBuilder().setRequestRange(other))
                                    .build())
                            .getResponsesList())
                    .allSatisfy(part ->
                            assertThat(part.getResponseRange().getCount()).isEqualTo(1));
            try (WatchClient watch = new WatchClient(fixture.channel(), "token", users.token("root"));
                    WatchClient guest = new WatchClient(fixture.channel(), "token", users.token("guest"))) {
                watch.send(WatchRequests.create("other"));
                guest.send(WatchRequests.create("other"));
                WatchIT.awaitResponses(watch, 1);
                WatchIT.awaitResponses(guest, 1);
                put("other");
                WatchIT.awaitResponses(watch, 2);
                assertThat(watch.eventsOf(0)).hasSize(1);
                assertThat(WatchIT.last(guest).getCancelReason()).endsWith("etcdserver: permission denied");
            }
            assertThatThrownBy(() -> KVGrpc.newBlockingStub(Users.as(users.token("guest"), fixture.channel()))
                            .range(other))
                    .hasMessage("PERMISSION_DENIED: etcdserver: permission denied");
        }
    }

    @Test
    void readinessNamesTheMissingPermission() throws Exception {
        users.add("powerless");
        try (GatewayFixture fixture = gateway("powerless")) {
            await().atMost(GatewayFixture.PATIENCE)
                    .untilAsserted(() ->
                            assertThat(fixture.page("/readyz?verbose").body()).contains("permission denied"));
            assertThat(fixture.page("/readyz").statusCode()).isEqualTo(503);
        }
    }

    private static GatewayFixture gateway(String user) throws Exception {
        String endpoints =
                SOURCE.cluster().clientUrls().stream().map(URI::toString).collect(Collectors.joining(","));
        return new GatewayFixture(GatewaySettings.load(
                null,
                Map.of("UNDERSTUDY_SOURCE_PASSWORD", user),
                Map.of(
                        "listen",
                        "127.0.0.1:0",
                        "rest.listen",
                        "127.0.0.1:0",
                        "source.endpoints",
                        endpoints,
                        "source.user",
                        user,
                        "writes",
                        "forward",
                        "range.prefix",
                        "app/")));
    }

    private static void put(String key) {
        var unused = users.asRoot()
                .put(PutRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .build());
    }

    private static RangeRequest.Builder range(String key) {
        return RangeRequest.newBuilder().setKey(ByteString.copyFromUtf8(key));
    }
}
