package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.HashKVRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.Permission;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Channel;
import io.grpc.StatusRuntimeException;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.forward.EtcdMethod;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A gateway of a source with users: a client reads only what the source permits.
 *
 * <p>Tests invariants P1, P1b, P3.
 */
@Timeout(120)
final class PermissionIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).learners(1).named("source");

    private static final String EMPTY_NAME = "INVALID_ARGUMENT: etcdserver: user name is empty";
    private static final String DENIED = "PERMISSION_DENIED: etcdserver: permission denied";
    private static final String INVALID = "UNAUTHENTICATED: etcdserver: invalid auth token";
    private static final String OK = "OK";

    private static Users users;
    private static GatewayFixture fixture;

    @BeforeAll
    static void start() throws Exception {
        users = new Users(SOURCE.cluster());
        users.add("guest");
        users.grant("guest", Permission.Type.READ, key("script"), ByteString.EMPTY);
        users.grant("guest", Permission.Type.READWRITE, key("plays/"), key("plays0"));
        users.add("nobody");
        for (String name : new String[] {"script", "secret", "plays/hamlet"}) {
            var unused = users.asRoot()
                    .put(PutRequest.newBuilder()
                            .setKey(key(name))
                            .setValue(key(name))
                            .build());
        }
        EtcdSettings source = EtcdSettings.of(SOURCE.cluster().clientUrls().toArray(new URI[0]))
                .withName("source")
                .withLogin(Users.root());
        fixture = new GatewayFixture(GatewaySettings.of("test", new HostPort("127.0.0.1", 0), source)
                .with(ForwardSettings.DEFAULTS.with(Writes.FORWARD)));
        fixture.awaitReady();
    }

    @AfterAll
    static void stop() {
        fixture.close();
        users.close();
    }

    /** etcd-io/etcd#22065: its proxy answers any client from its cache. */
    @Test
    void readsOfRootAreNotServedToOtherUsers() {
        assertThat(read(users.token("root"), "secret")).isEqualTo(OK);
        assertThat(read(null, "secret")).isEqualTo(EMPTY_NAME);
        assertThat(read(users.token("guest"), "secret")).isEqualTo(DENIED);
        assertThat(read("never.7", "secret")).isEqualTo(INVALID);
        assertThat(read("", "secret")).isEqualTo(INVALID);
    }

    @Test
    void everyPartOfATransactionIsChecked() {
        Channel guest = gateway(users.token("guest"));
        RequestOp script =
                RequestOp.newBuilder().setRequestRange(range("script")).build();
        RequestOp secret =
                RequestOp.newBuilder().setRequestRange(range("secret")).build();
        Compare compare = Compare.newBuilder().setKey(key("secret")).build();
        TxnRequest plain = TxnRequest.newBuilder().addSuccess(script).build();
        for (TxnRequest refused : new TxnRequest[] {
            plain.toBuilder().addCompare(compare).build(),
            plain.toBuilder().addFailure(secret).build(),
            plain.toBuilder()
                    .addFailure(RequestOp.newBuilder()
                            .setRequestTxn(TxnRequest.newBuilder().addCompare(compare)))
                    .build(),
            plain.toBuilder()
                    .addFailure(RequestOp.newBuilder()
                            .setRequestTxn(TxnRequest.newBuilder().addFailure(secret)))
                    .build()
        }) {
            assertThat(outcome(() -> KVGrpc.newBlockingStub(guest).txn(refused)))
                    .isEqualTo(DENIED);
        }
        assertThat(outcome(() -> KVGrpc.newBlockingStub(guest).txn(plain))).isEqualTo(OK);
        TxnRequest nothing = TxnRequest.getDefaultInstance();
        assertThat(outcome(() -> KVGrpc.newBlockingStub(gateway(null)).txn(nothing)))
                .isEqualTo(OK);
        assertThat(outcome(() -> KVGrpc.newBlockingStub(gateway("never.7")).txn(nothing)))
                .isEqualTo(INVALID);
        assertThat(outcome(() -> KVGrpc.newBlockingStub(gateway(null)).txn(plain)))
                .isEqualTo(EMPTY_NAME);
    }

    @Test
    void watchesAreRefusedAsByEtcd() throws Exception {
        String denied = "rpc error: code = PermissionDenied desc = etcdserver: permission denied";
        try (WatchDialogue guest = new WatchDialogue(gateway(users.token("guest")))) {
            guest.create("secret", "");
            assertThat(guest.next())
                    .isEqualTo(WatchResponse.newBuilder(guest.last())
                            .setWatchId(-1)
                            .setCreated(true)
                            .setCanceled(true)
                            .setCancelReason(denied)
                            .build());
            guest.create("secret", "a");
            assertThat(guest.next().getCancelReason()).isEqualTo(denied);
            guest.create("plays/z", "plays/a");
            assertThat(guest.next().getCancelReason()).isEqualTo("mvcc: watcher range is empty");
            // Stricter than etcd 3.5.30: GHSA-xg4h-6gfc-h4m8.
            guest.create("script", "\0");
            assertThat(guest.next().getCancelReason()).isEqualTo(denied);
            guest.create("plays/", "plays0");
            assertThat(guest.next().getCanceled()).isFalse();
        }
        try (WatchDialogue anonymous = new WatchDialogue(gateway(null))) {
            anonymous.create("script", "");
            assertThat(anonymous.next().getCancelReason())
                    .isEqualTo("rpc error: code = InvalidArgument desc = etcdserver: user name is empty");
        }
        try (WatchDialogue stranger = new WatchDialogue(gateway("never.7"))) {
            stranger.create("script", "");
            assertThat(stranger.next().getCancelReason())
                    .isEqualTo("rpc error: code = Unauthenticated desc = etcdserver: invalid auth token");
        }
    }

    @Test
    void statusIsServedToUsersThatTheSourcePermits() {
        for (String token : Arrays.asList(users.token("root"), users.token("guest"), "never.7", null)) {
            assertThat(outcome(() ->
                            MaintenanceGrpc.newBlockingStub(gateway(token)).status(StatusRequest.getDefaultInstance())))
                    .isEqualTo(outcome(() -> MaintenanceGrpc.newBlockingStub(Users.as(token, users.voter()))
                            .status(StatusRequest.getDefaultInstance())));
        }
    }

    /** The call with which a child gateway checks for the role root. */
    @Test
    void aHashOfTheLargestRevisionRequiresTheRoleRoot() throws Exception {
        HashKVRequest largest =
                HashKVRequest.newBuilder().setRevision(Long.MAX_VALUE).build();
        for (String token : Arrays.asList(users.token("root"), users.token("guest"), "never.7", null)) {
            // etcd 3.5 reports the same with code UNKNOWN and another prefix.
            String expected = outcome(() -> MaintenanceGrpc.newBlockingStub(Users.as(token, users.voter()))
                    .hashKV(largest));
            assertThat(outcome(() ->
                            MaintenanceGrpc.newBlockingStub(gateway(token)).hashKV(largest)))
                    .endsWith(expected.substring(expected.lastIndexOf(':')));
            assertThat(post("/v3/maintenance/hashkv", "{\"revision\":\"" + Long.MAX_VALUE + "\"}", token))
                    .contains(expected.substring(expected.lastIndexOf(':')) + '"');
        }
        assertThat(outcome(() -> MaintenanceGrpc.newBlockingStub(gateway(users.token("root")))
                        .hashKV(HashKVRequest.getDefaultInstance())))
                .isEqualTo("FAILED_PRECONDITION: etcdserver: rpc not supported for learner");
    }

    @Test
    void jsonIsChecked() throws Exception {
        String json =
                "{\"key\":\"" + Base64.getEncoder().encodeToString(key("secret").toByteArray()) + "\"}";
        String token = users.token("guest");
        assertThat(post("/v3/kv/range", json, null))
                .startsWith("400 ")
                .contains("\"code\":3,\"message\":\"etcdserver: user name is empty\"}");
        assertThat(post("/v3/kv/range", json, token))
                .startsWith("403 ")
                .contains("\"code\":7,\"message\":\"etcdserver: permission denied\"}");
        assertThat(post("/v3/kv/range", json, "never.7")).startsWith("401 ");
        assertThat(post("/v3/kv/range", json, users.token("root"))).startsWith("200 ");
    }

    @Test
    void restIsChecked() throws Exception {
        String token = users.token("guest");
        HttpResponse<String> anonymous = rest("/v1/kv/secret", null);
        assertThat(anonymous.statusCode()).isEqualTo(401);
        assertThat(anonymous.headers().firstValue("WWW-Authenticate"))
                .hasValueSatisfying(challenge -> assertThat(challenge).startsWith("Basic "));
        assertThat(rest("/v1/kv/secret", "Bearer " + token).statusCode()).isEqualTo(403);
        assertThat(rest("/v1/kv/script", "Bearer " + token).statusCode()).isEqualTo(200);
        assertThat(rest("/v1/kv/script", token).statusCode()).isEqualTo(200);
        assertThat(rest("/v1/kv/script", "Bearer never.7").statusCode()).isEqualTo(401);
        assertThat(rest("/v1/watch?prefix=secret", "Bearer " + token).statusCode())
                .isEqualTo(403);
        assertThat(rest("/v1/kv?prefix=plays/", basic("guest", "guest")).statusCode())
                .isEqualTo(200);
        assertThat(rest("/v1/kv/secret", basic("guest", "guest")).statusCode()).isEqualTo(403);
        HttpResponse<String> wrong = rest("/v1/kv/script", basic("guest", "guessed"));
        assertThat(wrong.statusCode()).isEqualTo(401);
        assertThat(wrong.body()).doesNotContain("guessed");
        assertThat(rest("/v1/kv/script", "Basic ?").statusCode()).isEqualTo(401);
    }

    @Test
    void onlyUsersThatEtcdPermitsReadTheFullStatus() throws Exception {
        String nobodys = rest("/v1/status", null).body();
        assertThat(nobodys).contains("\"ready\":true").doesNotContain("keys", "revision", "cluster_id");
        assertThat(rest("/v1/status", users.token("guest")).body()).isEqualTo(nobodys);
        assertThat(rest("/v1/status", users.token("root")).body()).contains("\"keys\":", "\"revision\":");
    }

    @Test
    void aRenewedTokenReadsTheFullStatus() throws Exception {
        for (int i = 0; i < 2; i++) {
            users.add("admin");
            users.grantRole("admin", "root");
            assertThat(rest("/v1/status", basic("admin", "admin")).body()).contains("\"keys\":");
            users.delete("admin");
            users.deleteRole("admin");
        }
    }

    /** The gateway itself is root. */
    @Test
    void callsWithoutATokenStayAnonymousAtTheSource() {
        for (EtcdMethod method : EveryCall.PASSED_ON) {
            assertThat(EveryCall.outcome(fixture.channel(), method))
                    .as(method.fullName())
                    .isEqualTo(EveryCall.outcome(users.voter(), method));
        }
        assertThat(users.asRoot().range(range("stolen")).getCount()).isZero();
    }

    @Test
    void grantsAndRevocationsTakeEffect() {
        grantAndRevoke("extra", GatewayFixture.PATIENCE, GatewayFixture.PATIENCE);
    }

    @Test
    @Tag("speed")
    void grantsTakeEffectAtOnceAndRevocationsSoon() {
        grantAndRevoke("swift", Duration.ofSeconds(1), Duration.ofSeconds(2));
    }

    /**
     * @param granted time until a grant takes effect
     * @param revoked time until its revocation does
     */
    private static void grantAndRevoke(String user, Duration granted, Duration revoked) {
        users.add(user);
        String token = users.token(user);
        assertThat(read(token, "secret")).isEqualTo(DENIED);
        users.grant(user, Permission.Type.READ, key("secret"), ByteString.EMPTY);
        await().atMost(granted)
                .untilAsserted(() -> assertThat(read(token, "secret")).isEqualTo(OK));
        users.revoke(user, key("secret"), ByteString.EMPTY);
        await().atMost(revoked)
                .untilAsserted(() -> assertThat(read(token, "secret")).isEqualTo(DENIED));
    }

    @Test
    void aWatchEndsWhenItMayNotBeReadAnyMore() throws Exception {
        users.add("watcher");
        users.grant("watcher", Permission.Type.READ, key("news"), ByteString.EMPTY);
        users.grant("watcher", Permission.Type.READ, key("script"), ByteString.EMPTY);
        try (WatchDialogue watching = new WatchDialogue(gateway(users.token("watcher")))) {
            watching.create("news", "");
            assertThat(watching.next().getCreated()).isTrue();
            watching.create("script", "");
            assertThat(watching.next().getCreated()).isTrue();
            var unused = users.asRoot()
                    .put(PutRequest.newBuilder().setKey(key("news")).build());
            assertThat(watching.next().getEventsCount()).isEqualTo(1);
            users.revoke("watcher", key("news"), ByteString.EMPTY);
            WatchResponse end = watching.next();
            assertThat(end.getCanceled()).isTrue();
            assertThat(end.getCreated()).isFalse();
            assertThat(end.getWatchId()).isZero();
            assertThat(end.getCancelReason())
                    .isEqualTo("rpc error: code = PermissionDenied desc = etcdserver: permission denied");
            var unusedToo = users.asRoot()
                    .put(PutRequest.newBuilder().setKey(key("news")).build());
            var unusedAsWell = users.asRoot()
                    .put(PutRequest.newBuilder().setKey(key("script")).build());
            WatchResponse other = watching.next();
            assertThat(other.getWatchId()).isEqualTo(1);
            assertThat(other.getEvents(0).getKv().getKey()).isEqualTo(key("script"));
        }
    }

    @Test
    void aRestartedLearnerRejectsOldTokensAndClientsReceiveThat() throws Exception {
        String token = users.token("guest");
        assertThat(read(token, "script")).isEqualTo(OK);
        assertThat(rest("/v1/kv/script", basic("guest", "guest")).statusCode()).isEqualTo(200);
        EtcdMember learner = SOURCE.cluster().learners().get(0);
        learner.stop();
        learner.start();
        await().atMost(GatewayFixture.PATIENCE)
                .untilAsserted(() -> assertThat(read(token, "script")).isEqualTo(INVALID));
        await().atMost(GatewayFixture.PATIENCE).untilAsserted(() -> assertThat(read(users.token("guest"), "script"))
                .isEqualTo(OK));
    }

    private static String read(@Nullable String token, String key) {
        return outcome(() -> KVGrpc.newBlockingStub(gateway(token))
                .withDeadlineAfter(10, TimeUnit.SECONDS)
                .range(range(key)));
    }

    private static String outcome(Callable<?> call) {
        try {
            Object unused = call.call();
            return OK;
        } catch (StatusRuntimeException e) {
            return e.getMessage();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static Channel gateway(@Nullable String token) {
        return Users.as(token, fixture.channel());
    }

    private static RangeRequest range(String key) {
        return RangeRequest.newBuilder().setKey(key(key)).build();
    }

    private static String post(String path, String body, @Nullable String token) throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + fixture.gateway.apiPort() + path))
                .POST(BodyPublishers.ofString(body));
        if (token != null) {
            request.header("Authorization", token);
        }
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
        // Versions of etcd differ in the spaces of their JSON.
        return answer.statusCode() + " " + answer.body().strip().replace(", \"", ",\"");
    }

    private static HttpResponse<String> rest(String path, @Nullable String authorization) throws Exception {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + fixture.gateway.restPort() + path));
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        return HttpClient.newHttpClient().send(request.build(), BodyHandlers.ofString());
    }

    private static String basic(String user, String password) {
        return "Basic " + Base64.getEncoder().encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
    }

    private static ByteString key(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
