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
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.PermissionDifferences.Client;
import io.understudy.local.certificate.Certificates;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import java.net.URI;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A source with JWTs, which carry the user and the expiry. */
@Timeout(180)
final class JwtIT {

    private static final Duration TTL = Duration.ofSeconds(12);
    /** Each with new tokens: these are short-lived. */
    private static final int ROUNDS = Math.max(4, Integer.getInteger("understudy.requests", 0) / 500);

    private static final int REQUESTS = 500;
    private static final int USERS = 4;

    @TempDir
    static Path folder;

    private static LocalEtcd source;
    private static Users users;
    private static GatewayFixture fixture;

    @BeforeAll
    static void start() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(2048);
        KeyPair keys = generator.generateKeyPair();
        Certificates files = new Certificates(folder);
        Path publicKey =
                files.write("public.pem", "PUBLIC KEY", keys.getPublic().getEncoded());
        Path privateKey =
                files.write("private.pem", "PRIVATE KEY", keys.getPrivate().getEncoded());
        source = LocalEtcd.builder()
                .name("source")
                .dataDirectory(folder.resolve("etcd"))
                .learners(1)
                .fsync(false)
                .extraArguments("--auth-token=jwt,pub-key=" + publicKey + ",priv-key=" + privateKey
                        + ",sign-method=RS256,ttl=" + TTL.toSeconds() + "s")
                .build();
        source.start();
        users = new Users(source);
        EtcdSettings settings = EtcdSettings.of(source.clientUrls().toArray(new URI[0]))
                .withName("source")
                .withLogin(Users.root());
        fixture = new GatewayFixture(GatewaySettings.of("test", new HostPort("127.0.0.1", 0), settings));
        fixture.awaitReady();
    }

    @AfterAll
    static void stop() {
        fixture.close();
        users.close();
        source.close();
    }

    @Test
    @Tag("schedules")
    void aTokenIsValidUntilItsExpiryAcrossRestarts() {
        users.add("guest");
        users.grant("guest", Permission.Type.READ, key("script"), ByteString.EMPTY);
        String token = users.token("guest");
        long issuedNanos = System.nanoTime();
        assertThat(read(token, "script")).isEqualTo(Status.Code.OK);
        assertThat(read(token, "secret")).isEqualTo(Status.Code.PERMISSION_DENIED);
        assertThat(read(token + "x", "script")).isEqualTo(Status.Code.UNAUTHENTICATED);
        try (WatchClient watch = new WatchClient(Users.as(token, fixture.channel()))) {
            watch.send(WatchRequest.newBuilder()
                    .setCreateRequest(WatchCreateRequest.newBuilder().setKey(key("script")))
                    .build());
            await().until(() -> watch.received().size() == 1);
            EtcdMember learner = source.learners().get(0);
            learner.stop();
            learner.start();
            // The token outlives the restart.
            if (System.nanoTime() - issuedNanos < TTL.minusSeconds(3).toNanos()) {
                assertThat(read(token, "script")).isEqualTo(Status.Code.OK);
            }
            await().atMost(TTL.plusSeconds(5)).until(() -> read(token, "script") == Status.Code.UNAUTHENTICATED);
            // Within a minute. The client resumes it with another token.
            await().atMost(GatewayFixture.PATIENCE.multipliedBy(2)).until(() -> watch.status() != null);
            assertThat(watch.status().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        }
        assertThat(read(users.token("guest"), "script")).isEqualTo(Status.Code.OK);
        // The gateway has another token too.
        fixture.awaitReady();
    }

    @Test
    void everyUserReceivesTheAnswersOfEtcd() throws Exception {
        PermissionDifferences differences = new PermissionDifferences(true);
        for (int i = 0; i < USERS; i++) {
            users.add("user" + i);
            differences.grant(users, "user" + i);
        }
        // etcd rejects tokens from before the change.
        users.renewRoot();
        long last = 0;
        for (int i = 0; i < 50; i++) {
            last = users.asRoot()
                    .put(PutRequest.newBuilder().setKey(differences.key()).build())
                    .getHeader()
                    .getRevision();
        }
        List<Client> clients = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            clients.clear();
            for (int i = 0; i < USERS; i++) {
                String token = users.token("user" + i);
                clients.add(new Client("user" + i, Users.as(token, users.voter()), Users.as(token, fixture.channel())));
            }
            differences.requireNone(REQUESTS, clients, last);
        }
        // A change of users revokes older tokens.
        users.grant("user1", Permission.Type.READ, key("elsewhere"), ByteString.EMPTY);
        for (Client each : clients) {
            assertThat(read(each.etcd(), "a")).isEqualTo(Status.Code.INVALID_ARGUMENT);
            await().atMost(GatewayFixture.PATIENCE)
                    .until(() -> read(each.gateway(), "a") == Status.Code.INVALID_ARGUMENT);
        }
    }

    private static Status.Code read(String token, String key) {
        return read(Users.as(token, fixture.channel()), key);
    }

    private static Status.Code read(Channel channel, String key) {
        try {
            var unused = KVGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(10, TimeUnit.SECONDS)
                    .range(RangeRequest.newBuilder().setKey(key(key)).build());
            return Status.Code.OK;
        } catch (StatusRuntimeException e) {
            return e.getStatus().getCode();
        }
    }

    private static ByteString key(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
