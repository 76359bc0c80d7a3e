package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.Permission;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.grpc.StatusRuntimeException;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.forward.EtcdMethod;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A gateway behind a gateway: it requests permission checks from its parent as that does from etcd. */
@Timeout(120)
final class PermissionChainIT {

    /** A second for each gateway, and some for a busy machine. */
    private static final Duration SEEN_WITHIN = Duration.ofSeconds(3);

    private static final String DENIED = "PERMISSION_DENIED: etcdserver: permission denied";
    private static final String EMPTY_NAME = "INVALID_ARGUMENT: etcdserver: user name is empty";

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).learners(1).named("source");

    private static Users users;
    private static GatewayFixture parent;
    private static GatewayFixture child;

    @BeforeAll
    static void start() throws Exception {
        users = new Users(SOURCE.cluster());
        users.add("guest");
        users.grant("guest", Permission.Type.READ, key("script"), ByteString.EMPTY);
        put("script");
        parent = gateway("parent", SOURCE.cluster().clientUrls().toArray(new URI[0]));
        parent.awaitReady();
        child = gateway("child", URI.create("http://127.0.0.1:" + parent.gateway.apiPort()));
        child.awaitReady();
    }

    @AfterAll
    static void stop() {
        child.close();
        parent.close();
        users.close();
    }

    private static GatewayFixture gateway(String name, URI... source) throws Exception {
        return new GatewayFixture(GatewaySettings.of(
                        name,
                        new HostPort("127.0.0.1", 0),
                        EtcdSettings.of(source).withName("source").withLogin(Users.root()))
                .with(ForwardSettings.DEFAULTS.with(Writes.FORWARD)));
    }

    @Test
    void aTokenIsAsGoodAsAtEtcd() {
        assertThat(read(users.token("root"), "secret")).isEqualTo("OK");
        assertThat(read(users.token("guest"), "script")).isEqualTo("OK");
        assertThat(read(users.token("guest"), "secret")).isEqualTo(DENIED);
        assertThat(read("never.7", "script")).isEqualTo("UNAUTHENTICATED: etcdserver: invalid auth token");
    }

    @Test
    void anonymousCallersStayAnonymousThroughTheChain() {
        assertThat(read(null, "script")).isEqualTo(EMPTY_NAME);
        for (EtcdMethod method : EveryCall.PASSED_ON) {
            assertThat(EveryCall.outcome(child.channel(), method))
                    .as(method.fullName())
                    .isEqualTo(EveryCall.outcome(users.voter(), method));
        }
    }

    @Test
    void revocationsTakeEffect() {
        revokes("reader", GatewayFixture.PATIENCE);
    }

    @Test
    @Tag("speed")
    void revocationsTakeEffectInTime() {
        revokes("swift", SEEN_WITHIN);
    }

    private static void revokes(String user, Duration seenWithin) {
        users.add(user);
        users.grant(user, Permission.Type.READ, key("news"), ByteString.EMPTY);
        String token = users.token(user);
        assertThat(read(token, "news")).isEqualTo("OK");
        try (WatchClient watch = new WatchClient(Users.as(token, child.channel()))) {
            watch.send(WatchRequest.newBuilder()
                    .setCreateRequest(WatchCreateRequest.newBuilder().setKey(key("news")))
                    .build());
            await().until(() -> watch.received().size() == 1);
            users.revoke(user, key("news"), ByteString.EMPTY);
            await().pollInterval(Duration.ofMillis(50)).atMost(seenWithin).until(() -> read(token, "news")
                    .equals(DENIED));
            await().atMost(seenWithin).until(() -> watch.received().size() == 2);
            assertThat(watch.received().get(1).getCanceled()).isTrue();
        }
    }

    private static String read(@Nullable String token, String key) {
        try {
            var unused = KVGrpc.newBlockingStub(Users.as(token, child.channel()))
                    .withDeadlineAfter(10, TimeUnit.SECONDS)
                    .range(RangeRequest.newBuilder().setKey(key(key)).build());
            return "OK";
        } catch (StatusRuntimeException e) {
            return e.getMessage();
        }
    }

    private static void put(String key) {
        var unused = users.asRoot().put(PutRequest.newBuilder().setKey(key(key)).build());
    }

    private static ByteString key(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
