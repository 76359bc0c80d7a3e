package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.Permission;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.understudy.config.HostPort;
import io.understudy.gateway.PermissionDifferences.Client;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.gateway.permission.PermissionSettings;
import io.understudy.gateway.server.Unhurried;
import io.understudy.local.certificate.Certificates;
import io.understudy.tls.ClientCertificates;
import io.understudy.tls.ListenerSecurity;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares the reads of clients with certificates at etcd and at a gateway that maps common names to users.
 * {@code -Dunderstudy.seed=…} repeats a run, {@code -Dunderstudy.requests=…} sets the number of requests.
 *
 * <p>Tests invariant P2.
 */
@Timeout(300)
final class CertificateNamesIT {

    private static final int REQUESTS = Integer.getInteger("understudy.requests", 6_000);
    private static final int ROUNDS = 3;
    private static final int USERS = 4;
    private static final String DENIED = "PERMISSION_DENIED: etcdserver: permission denied";
    private static final String STRANGER = "stranger";
    /** A user with grants that mark how far the gateway has read users and roles. */
    private static final String WITNESS = "witness";

    @TempDir
    static Path folder;

    private static CertifiedEtcd source;
    private static Users users;
    private static Gateway gateway;
    private static Certificates.Pair readers;

    /** Channels to etcd and to the gateway, by common name. */
    private static final Map<String, ManagedChannel> ETCD = new TreeMap<>();

    private static final Map<String, ManagedChannel> GATEWAY = new TreeMap<>();

    @BeforeAll
    static void start() throws Exception {
        Certificates certificates = new Certificates(folder);
        Certificates.Pair nameless = certificates.makeNameless("nobody", "EC");
        Map<String, Certificates.Pair> named = new TreeMap<>();
        for (String name : new String[] {Users.ROOT, STRANGER, "reader", WITNESS, "user0", "user1", "user2", "user3"}) {
            named.put(name, certificates.make(name, "EC"));
        }
        readers = named.get("reader");
        List<Certificates.Pair> clients = new ArrayList<>(named.values());
        clients.add(nameless);
        source = new CertifiedEtcd(folder, certificates, clients.toArray(new Certificates.Pair[0]));
        users = new Users(source.cluster);
        Path trusted = CertifiedEtcd.together(
                folder.resolve("clients-of-gateway.crt"), clients.toArray(new Certificates.Pair[0]));
        gateway = Gateway.start(GatewaySettings.of(
                        "test",
                        new HostPort("127.0.0.1", 0),
                        new SourceSettings.Etcd(
                                source.settings(nameless).withLogin(Users.root()), source.files(nameless)))
                .with(Unhurried.LIMITS)
                .with(ForwardSettings.DEFAULTS.with(Writes.FORWARD))
                .with(new PermissionSettings(Duration.ofSeconds(1), true, true))
                .with(new ListenerSecurity(
                        new TlsFiles(trusted, source.own.certificate(), source.own.key()),
                        ClientCertificates.OPTIONAL,
                        false)));
        named.forEach((name, pair) -> {
            ETCD.put(name, CertifiedEtcd.channel(source.url.getPort(), source.files(pair)));
            GATEWAY.put(name, CertifiedEtcd.channel(gateway.apiPort(), source.files(pair)));
        });
        put("script");
        await().atMost(GatewayFixture.PATIENCE)
                .until(() -> read(Users.ROOT, "script").equals("OK"));
    }

    @AfterAll
    static void stop() {
        ETCD.values().forEach(ManagedChannel::shutdownNow);
        GATEWAY.values().forEach(ManagedChannel::shutdownNow);
        gateway.close();
        users.close();
        source.close();
    }

    @Test
    void everyUserReceivesTheAnswersOfEtcd() throws Exception {
        // For ranges that end before they begin, etcd decides by the shape of its permission tree.
        PermissionDifferences differences = new PermissionDifferences(false);
        long last = 0;
        for (int i = 0; i < 50; i++) {
            last = users.asRoot()
                    .put(PutRequest.newBuilder().setKey(differences.key()).build())
                    .getHeader()
                    .getRevision();
        }
        for (int i = 0; i < USERS; i++) {
            users.add("user" + i);
        }
        users.addNameOnly(WITNESS);
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < USERS; i++) {
                // Some users have the role of another user too.
                differences.grant(users, "user" + i);
            }
            users.grantRole("user" + round, "user" + (round + 1));
            // The gateway reads users and roles as of one revision: once this grant is visible, those before are too.
            String mark = "round" + round;
            users.grant(WITNESS, Permission.Type.READ, key(mark), ByteString.EMPTY);
            await().atMost(GatewayFixture.PATIENCE)
                    .until(() -> read(WITNESS, mark).equals("OK"));
            List<Client> clients = new ArrayList<>();
            for (String name : new String[] {Users.ROOT, STRANGER, "user0", "user1", "user2", "user3"}) {
                clients.add(new Client(name, ETCD.get(name), GATEWAY.get(name)));
            }
            // A token overrides the name in the certificate.
            String token = users.token("user0");
            clients.add(new Client(
                    "user0 by token", Users.as(token, ETCD.get(STRANGER)), Users.as(token, GATEWAY.get(STRANGER))));
            differences.requireNone(REQUESTS / ROUNDS, clients, last);
        }
    }

    @Test
    void changesOfRolesApplyToOpenWatches() throws Exception {
        changesOfARole("reader", GatewayFixture.PATIENCE);
    }

    @Test
    @Tag("speed")
    void aChangeOfARoleAppliesWithinSeconds() throws Exception {
        changesOfARole("reader", Duration.ofSeconds(3));
    }

    /** @param soon within which each change is to be seen; a watch is ended a second later at most */
    private static void changesOfARole(String user, Duration soon) throws Exception {
        users.addNameOnly(user);
        put("news");
        assertThat(read(user, "news")).isEqualTo(DENIED);
        users.grant(user, Permission.Type.READ, key("news"), ByteString.EMPTY);
        await().atMost(soon).until(() -> read(user, "news").equals("OK"));
        assertThat(read(user, "script")).isEqualTo(DENIED);
        assertThat(rest("/v1/kv/news")).isEqualTo(200);
        assertThat(rest("/v1/kv/script")).isEqualTo(403);
        try (WatchClient watch = new WatchClient(GATEWAY.get(user))) {
            watch.send(WatchRequest.newBuilder()
                    .setCreateRequest(WatchCreateRequest.newBuilder().setKey(key("news")))
                    .build());
            await().atMost(GatewayFixture.PATIENCE).until(() -> watch.received().size() == 1);
            put("news");
            await().atMost(GatewayFixture.PATIENCE).until(() -> watch.received().size() == 2);
            users.revoke(user, key("news"), ByteString.EMPTY);
            await().atMost(soon.plusSeconds(1)).until(() -> watch.received().size() == 3);
            assertThat(watch.received().get(2).getCancelReason())
                    .isEqualTo("rpc error: code = PermissionDenied desc = etcdserver: permission denied");
        }
        await().atMost(soon).until(() -> read(user, "news").equals(DENIED));
        users.grant(user, Permission.Type.READ, key("news"), ByteString.EMPTY);
        await().atMost(soon).until(() -> read(user, "news").equals("OK"));
        users.delete(user);
        await().atMost(soon).until(() -> read(user, "news").equals(DENIED));
        users.deleteRole(user);
    }

    @Test
    void statusRequiresTheSameUsersAsEtcd() {
        for (String name : new String[] {Users.ROOT, STRANGER}) {
            assertThat(status(GATEWAY.get(name))).as(name).isEqualTo(status(ETCD.get(name)));
        }
    }

    @Test
    void forwardedCallsDoNotCarryTheNameOfACertificate() {
        assertThat(outcome(() -> KVGrpc.newBlockingStub(GATEWAY.get(Users.ROOT))
                        .put(PutRequest.newBuilder().setKey(key("stolen")).build())))
                .startsWith("PERMISSION_DENIED: understudy: the name in a client certificate");
    }

    private static String status(ManagedChannel channel) {
        return outcome(() -> MaintenanceGrpc.newBlockingStub(channel).status(StatusRequest.getDefaultInstance()));
    }

    private static String read(String name, String key) {
        return outcome(() -> KVGrpc.newBlockingStub(GATEWAY.get(name))
                .withDeadlineAfter(10, TimeUnit.SECONDS)
                .range(RangeRequest.newBuilder().setKey(key(key)).build()));
    }

    private static String outcome(Runnable call) {
        try {
            call.run();
            return "OK";
        } catch (StatusRuntimeException e) {
            return e.getMessage();
        }
    }

    /** As the reader. */
    private static int rest(String path) throws Exception {
        try (TlsContext context = TlsContext.of(source.files(readers))) {
            return context.applyTo(HttpClient.newBuilder())
                    .build()
                    .send(
                            HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + gateway.restPort() + path))
                                    .build(),
                            BodyHandlers.ofString())
                    .statusCode();
        }
    }

    private static void put(String key) {
        var unused = users.asRoot().put(PutRequest.newBuilder().setKey(key(key)).build());
    }

    private static ByteString key(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
