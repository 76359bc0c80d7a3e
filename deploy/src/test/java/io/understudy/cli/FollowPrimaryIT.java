package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.AuthenticateRequest;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.AbstractStub;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import io.understudy.etcd.Credentials;
import io.understudy.gateway.Gateway;
import io.understudy.gateway.GatewaySettings;
import io.understudy.local.certificate.Certificates;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.etcd.LocalEtcdBuilder;
import io.understudy.local.process.FreePorts;
import io.understudy.mirror.MirrorConfiguration;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.takeover.TakeOver;
import io.understudy.mirror.takeover.TakeOverOptions;
import io.understudy.mirror.takeover.TakeOverReport;
import io.understudy.vocabulary.KeyRange;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A gateway with both clusters of a mirror follows its primary, while a client writes and another one watches.
 *
 * <p>Tests invariants G3, G4, W6.
 */
@Tag("takeover")
@Timeout(180)
final class FollowPrimaryIT {

    private static final Logger LOG = LoggerFactory.getLogger(FollowPrimaryIT.class);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final ByteString PREFIX = ByteString.copyFromUtf8("/app/");
    private static final ByteString KEY = ByteString.copyFromUtf8("/app/count");
    private static final Credentials ROOT = new Credentials("root", "root");
    private static final Credentials MIRROR = new Credentials("mirror", "secret");
    private static final Credentials APP = new Credentials("app", "secret");
    private static final TakeOverOptions OPTIONS =
            TakeOverOptions.DEFAULTS.within(Duration.ofSeconds(30), Duration.ofSeconds(10));
    /** So that no revision of the source is one of the target, as after a seeding. */
    private static final int REVISIONS = 20_000;

    @TempDir
    private Path folder;

    private final List<AutoCloseable> open = new ArrayList<>();
    private final Map<LocalEtcd, Long> ids = new HashMap<>();
    /** As mirror and gateway connect; with TLS if authentication is enabled. */
    private final Map<LocalEtcd, URI> urls = new HashMap<>();

    private LocalEtcd source;
    private LocalEtcd target;
    private MirrorSettings.Mirror settings;
    private MirrorProcess mirror;
    private Gateway gateway;
    private ManagedChannel client;
    private Certificates.@Nullable Pair certificate;

    @AfterEach
    void close() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
    }

    @Test
    void clientsContinueAtTheNewPrimary_andAtTheFormerOneAfterAFailback() throws Exception {
        start(null, null);
        Watched watched = new Watched(client, 0);
        watched.created.await();
        Writer writer = opened(new Writer(client, null));
        writer.await(100);
        long before = range(client, 0).getHeader().getRevision();

        switchOver(Way.CORRUPT_ALARM);
        writer.await(100);
        awaitServed(target, writer.token);
        writer.await(100);
        report("switchover", writer);
        assertThat(writer.failures).isEmpty();
        await().atMost(PATIENCE).until(() -> watched.values.size() >= writer.acknowledged.get());
        assertThat(watched.ended).isEmpty();
        for (int i = 0; i < watched.values.size(); i++) {
            assertThat(watched.values.get(i)).isEqualTo(value(i + 1));
        }
        assertThat(watched.revisions).isSorted().doesNotHaveDuplicates();
        Watched late = new Watched(client, before);
        await().atMost(PATIENCE).until(() -> !late.ended.isEmpty());
        assertThat(late.ended.get(0).getCompactRevision()).isGreaterThan(before);
        assertThat(late.values).isEmpty();
        assertThat(refusal(client, before)).contains("required revision has been compacted");

        // The source's revision is lower now: clients list again.
        awaitSynced(target);
        writer.tolerant = true;
        long highest = range(client, 0).getHeader().getRevision();
        try (TakeOver clusters = takeOver(null)) {
            clusters.failback(OPTIONS.with(Way.AUTH_ENABLE).acceptingSilentWatchers(), step -> {})
                    .run();
        }
        writer.await(100);
        awaitServed(source, writer.token);
        writer.await(100);
        writer.close();
        report("failback", writer);
        assertThat(writer.failures).isEmpty();
        await().atMost(PATIENCE).until(() -> !watched.ended.isEmpty());
        RangeResponse now = range(client, 0);
        assertThat(now.getHeader().getRevision()).isLessThan(highest);
        assertThat(now.getKvs(0).getValue()).isEqualTo(value(writer.acknowledged.get()));
        assertThat(range(channel(source), 0).getKvsList()).isEqualTo(now.getKvsList());
        Watched resumed = new Watched(client, highest + 1);
        await().atMost(PATIENCE).until(() -> !resumed.ended.isEmpty());
        assertThat(resumed.values).isEmpty();
        assertThat(gateway.failure()).isNotDone();
    }

    @Test
    void clientsContinueAfterAFailover() throws Exception {
        start(null, null);
        Watched watched = new Watched(client, 0);
        watched.created.await();
        Writer writer = opened(new Writer(client, null));
        writer.await(100);
        writer.tolerant = true;
        source.stop();
        try (TakeOver clusters = takeOver(null)) {
            var unused = clusters.failover(false, OPTIONS.with(Way.AUTH_ENABLE).forced(), step -> {})
                    .run();
        }
        writer.await(100);
        awaitServed(target, writer.token);
        writer.await(100);
        writer.close();
        assertThat(writer.failures).isEmpty();
        assertThat(range(channel(target), 0).getKvs(0).getValue()).isEqualTo(value(writer.acknowledged.get()));
        await().atMost(PATIENCE).until(() -> !watched.ended.isEmpty());
        assertThat(watched.ended.get(0).getCompactRevision()).isPositive();
    }

    @Test
    void withAuthenticationAndTls_clientsLogInAgainAndNoWriteIsDenied() throws Exception {
        start(ROOT, APP);
        Writer writer = opened(new Writer(client, APP));
        writer.await(100);
        switchOver(Way.ROLES);
        writer.await(100);
        awaitServed(target, writer.token);
        writer.await(100);
        writer.close();
        report("roles", writer);
        assertThat(writer.failures).isEmpty();
        assertThat(range(client, 0, writer.token).getKvs(0).getValue()).isEqualTo(value(writer.acknowledged.get()));
    }

    private void start(@Nullable Credentials root, @Nullable Credentials app) throws Exception {
        source = cluster("source", root);
        target = cluster("target", root);
        raiseRevision(channel(target), login(channel(target), root));
        String tls = root == null ? "" : ", tls: {trusted: '" + certificate().certificate() + "'}";
        Path mirrors = write("mirror.yaml", """
            status: {listen: "127.0.0.1:0"}
            mirrors:
              dr:
                include: ["/app/"]
                source: {endpoints: ["%%s"], user: mirror, password: secret%1$s}
                target: {etcd: {endpoints: ["%%s"], user: mirror, password: secret, leases: ttl%1$s}}
            """.formatted(tls));
        MirrorSettings loaded = MirrorConfiguration.load(mirrors, Map.of(), Map.of());
        settings = loaded.mirrors().get(0);
        mirror = opened(MirrorProcess.start(loaded));
        awaitSynced(source);
        String user = app == null ? "" : ", user: mirror, password: secret" + tls;
        Path file = write("gateway.yaml", """
            name: follower
            listen: "127.0.0.1:0"
            rest: {listen: "127.0.0.1:0"}
            writes: forward
            source: {endpoints: ["%%s"], mirror: dr, standby: {endpoints: ["%%s"]%1$s}%1$s}
            """.formatted(user));
        gateway = opened(Gateway.start(GatewaySettings.load(file, Map.of(), Map.of())));
        client = channel(URI.create("http://127.0.0.1:" + gateway.apiPort()));
    }

    private TakeOver takeOver(@Nullable Credentials user) {
        return new TakeOver(settings, user, user, OPTIONS.patience());
    }

    private void switchOver(Way way) {
        try (TakeOver clusters = takeOver(way == Way.ROLES ? ROOT : null)) {
            assertThat(clusters.switchover(OPTIONS.with(way), step -> {}).run().loss())
                    .isEqualTo(TakeOverReport.NONE);
        }
    }

    private void awaitServed(LocalEtcd primary, String token) {
        long id = ids.get(primary);
        await().atMost(PATIENCE)
                .until(() -> gateway.staleness() != null
                        && range(client, 0, token).getHeader().getClusterId() == id);
    }

    private static void report(String what, Writer writer) throws Exception {
        long pause = writer.longestNanos / 1_000_000;
        writer.longestNanos = 0;
        LOG.atInfo().addKeyValue("move", what).addKeyValue("pause_ms", pause).log("writers' pause");
        if (System.getProperty("understudy.follow.report") != null) {
            Files.writeString(
                    Path.of(System.getProperty("understudy.follow.report")),
                    what + " " + pause + "\n",
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        }
    }

    private <C extends AutoCloseable> C opened(C resource) {
        open.add(resource);
        return resource;
    }

    private LocalEtcd cluster(String name, @Nullable Credentials root) throws IOException {
        FreePorts ports = opened(FreePorts.take(2));
        URI plain = URI.create("http://127.0.0.1:" + ports.get(0));
        URI url = root == null ? plain : URI.create("https://127.0.0.1:" + ports.get(1));
        LocalEtcdBuilder builder = LocalEtcd.builder()
                .name(name)
                .fsync(false)
                .dataDirectory(folder.resolve(name))
                .clientPorts(ports.get(0));
        if (root != null) {
            builder.extraArguments(
                    "--listen-client-urls=" + plain + "," + url,
                    "--advertise-client-urls=" + url,
                    "--cert-file=" + certificate().certificate(),
                    "--key-file=" + certificate().key());
        }
        LocalEtcd cluster = opened(builder.build());
        urls.put(cluster, url);
        cluster.start();
        ids.put(cluster, cluster.leader().status().clusterId());
        if (root != null) {
            cluster.enableAuthentication(root.password());
            for (Credentials user : List.of(MIRROR, APP)) {
                asRoot(cluster, "user", "add", user.user() + ":" + user.password());
                asRoot(cluster, "role", "add", user.user());
                asRoot(cluster, "user", "grant-role", user.user(), user.user());
            }
            asRoot(cluster, "role", "grant-permission", MIRROR.user(), "readwrite", "", "--from-key");
            asRoot(cluster, "role", "grant-permission", APP.user(), "readwrite", "/", "0");
        }
        return cluster;
    }

    /** Of both clusters. */
    private Certificates.Pair certificate() throws IOException {
        if (certificate == null) {
            certificate = new Certificates(folder).make("etcd", "EC");
        }
        return certificate;
    }

    private static void asRoot(LocalEtcd cluster, String... command) {
        List<String> line = new ArrayList<>(List.of("--user=root:root"));
        line.addAll(List.of(command));
        var unused = cluster.etcdctl(line.toArray(String[]::new));
    }

    private Path write(String name, String text) throws Exception {
        return Files.writeString(folder.resolve(name), text.formatted(urls.get(source), urls.get(target)));
    }

    private ManagedChannel channel(LocalEtcd cluster) {
        return channel(cluster.clientUrls().get(0));
    }

    private ManagedChannel channel(URI at) {
        ManagedChannel channel = NettyChannelBuilder.forAddress(at.getHost(), at.getPort())
                .usePlaintext()
                .build();
        open.add(channel::shutdownNow);
        return channel;
    }

    /** Empty without a user. */
    private static String login(ManagedChannel at, @Nullable Credentials user) {
        return user == null
                ? ""
                : AuthGrpc.newBlockingStub(at)
                        .withDeadlineAfter(20, TimeUnit.SECONDS)
                        .authenticate(AuthenticateRequest.newBuilder()
                                .setName(user.user())
                                .setPassword(user.password())
                                .build())
                        .getToken();
    }

    private static <S extends AbstractStub<S>> S as(String token, S stub) {
        Metadata metadata = new Metadata();
        if (!token.isEmpty()) {
            metadata.put(Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER), token);
        }
        return stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata));
    }

    private static void raiseRevision(ManagedChannel at, String token) throws InterruptedException {
        CountDownLatch left = new CountDownLatch(REVISIONS);
        PutRequest put = PutRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8("/other"))
                .build();
        for (int i = 0; i < REVISIONS; i++) {
            as(token, KVGrpc.newFutureStub(at)).put(put).addListener(left::countDown, Runnable::run);
        }
        assertThat(left.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    private void awaitSynced(LocalEtcd from) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(mirror.reports().get(0).state()).isEqualTo(MirrorState.SYNCED);
            assertThat(mirror.reports().get(0).source()).contains(urls.get(from).toString());
        });
    }

    private static RangeResponse range(ManagedChannel at, long revision) {
        return range(at, revision, "");
    }

    private static RangeResponse range(ManagedChannel at, long revision, String token) {
        return as(token, KVGrpc.newBlockingStub(at))
                .withDeadlineAfter(10, TimeUnit.SECONDS)
                .range(RangeRequest.newBuilder()
                        .setKey(KEY)
                        .setRevision(revision)
                        .build());
    }

    private static String refusal(ManagedChannel at, long revision) {
        try {
            return range(at, revision).toString();
        } catch (StatusRuntimeException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static ByteString value(int number) {
        return ByteString.copyFromUtf8(String.valueOf(number));
    }

    /** Counts, in one key, by one put after the other. */
    private static final class Writer implements AutoCloseable {

        private final List<Exception> failures = new CopyOnWriteArrayList<>();
        private final Thread thread;
        private final ManagedChannel at;
        private final AtomicInteger acknowledged = new AtomicInteger();
        private final @Nullable Credentials user;
        private volatile String token = "";
        /** Whether connections and members may be lost. */
        private volatile boolean tolerant;

        private volatile long longestNanos;
        private volatile boolean closed;

        Writer(ManagedChannel at, @Nullable Credentials user) {
            this.at = at;
            this.user = user;
            this.thread = new Thread(this::run, "writer");
            thread.start();
        }

        private void run() {
            long last = System.nanoTime();
            while (!closed && failures.isEmpty()) {
                try {
                    token = token.isEmpty() ? login(at, user) : token;
                    var unused = as(token, KVGrpc.newBlockingStub(at))
                            .withDeadlineAfter(20, TimeUnit.SECONDS)
                            .put(PutRequest.newBuilder()
                                    .setKey(KEY)
                                    .setValue(value(acknowledged.get() + 1))
                                    .build());
                    var unusedCount = acknowledged.incrementAndGet();
                } catch (StatusRuntimeException e) {
                    boolean isLost = tolerant && e.getStatus().getCode() == Status.Code.UNAVAILABLE;
                    // As etcd's client: a token of the former primary is renewed.
                    if (!isLost && (user == null || e.getStatus().getCode() != Status.Code.UNAUTHENTICATED)) {
                        failures.add(e);
                    }
                    token = "";
                    continue;
                }
                long now = System.nanoTime();
                longestNanos = Math.max(longestNanos, now - last);
                last = now;
            }
        }

        void await(int more) {
            int start = acknowledged.get();
            Awaitility.await().atMost(PATIENCE).until(() -> acknowledged.get() >= start + more || !failures.isEmpty());
        }

        @Override
        public void close() {
            closed = true;
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** A watch of the prefix. */
    private static final class Watched implements StreamObserver<WatchResponse> {

        private final List<ByteString> values = new CopyOnWriteArrayList<>();
        private final List<Long> revisions = new CopyOnWriteArrayList<>();
        private final List<WatchResponse> ended = new CopyOnWriteArrayList<>();
        private final CountDownLatch created = new CountDownLatch(1);

        Watched(ManagedChannel at, long start) {
            KeyRange range = KeyRange.prefix(PREFIX);
            WatchGrpc.newStub(at)
                    .watch(this)
                    .onNext(WatchRequest.newBuilder()
                            .setCreateRequest(WatchCreateRequest.newBuilder()
                                    .setKey(range.etcdKey())
                                    .setRangeEnd(range.etcdRangeEnd())
                                    .setStartRevision(start))
                            .build());
        }

        @Override
        public void onNext(WatchResponse response) {
            if (response.getCreated()) {
                created.countDown();
            }
            if (response.getCanceled()) {
                ended.add(response);
            }
            for (Event event : response.getEventsList()) {
                values.add(event.getKv().getValue());
                revisions.add(event.getKv().getModRevision());
            }
        }

        @Override
        public void onError(Throwable failure) {
            ended.add(WatchResponse.newBuilder()
                    .setCancelReason(String.valueOf(failure.getMessage()))
                    .build());
        }

        @Override
        public void onCompleted() {
            ended.add(WatchResponse.getDefaultInstance());
        }
    }
}
