package io.understudy.architecture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.understudy.gateway.Gateway;
import io.understudy.gateway.GatewaySettings;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.MirrorConfiguration;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.takeover.Switchover;
import io.understudy.mirror.takeover.TakeOver;
import io.understudy.mirror.takeover.TakeOverOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jacoco.agent.rt.IAgent;
import org.jacoco.agent.rt.RT;
import org.jacoco.core.data.ExecutionDataReader;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts the top-level classes that one warm request executes; docs/internals/walks.md states the most. */
@EnabledIf("isMeasured")
@TestMethodOrder(OrderAnnotation.class)
final class WalksIT {

    private static final Logger LOG = LoggerFactory.getLogger(WalksIT.class);
    private static final ByteString KEY = ByteString.copyFromUtf8("/walks/key");
    private static final String GATEWAY = "io.understudy.gateway.";
    private static final String MIRROR = "io.understudy.mirror.";
    private static final Path PAGE = Path.of("../docs/internals/walks.md");
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final TakeOverOptions OPTIONS = TakeOverOptions.DEFAULTS
            .within(Duration.ofSeconds(30), Duration.ofSeconds(10))
            .acceptingSilentWatchers();
    private static final int WARM = 50;
    /** A class that something else executes at the same time is not in every one of them. */
    private static final int ROUNDS = 12;

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1);

    @RegisterExtension
    static final EtcdExtension TARGET = EtcdExtension.voters(1).named("target");

    @TempDir
    static Path folder;

    private static IAgent agent;
    private static MirrorSettings settings;
    private static MirrorProcess mirror;
    private static Gateway gateway;
    private static ManagedChannel client;
    private static ManagedChannel source;
    private static ManagedChannel target;

    private interface Request {
        void send() throws Exception;
    }

    /** By JaCoCo's agent, in the profile coverage. */
    static boolean isMeasured() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .anyMatch(argument -> argument.contains("org.jacoco.agent"));
    }

    @BeforeAll
    static void start() throws Exception {
        agent = RT.getAgent();
        URI from = SOURCE.cluster().clientUrls().get(0);
        URI to = TARGET.cluster().clientUrls().get(0);
        settings = MirrorConfiguration.load(
                Files.writeString(folder.resolve("mirror.yaml"), """
                        status: {listen: "127.0.0.1:0"}
                        mirrors:
                          walks:
                            include: ["/walks/"]
                            source: {endpoints: ["%s"], user: mirror, password: secret}
                            target: {etcd: {endpoints: ["%s"], user: mirror, password: secret, leases: ttl}}
                        """.formatted(from, to)), Map.of(), Map.of());
        mirror = MirrorProcess.start(settings);
        gateway = Gateway.start(GatewaySettings.load(
                Files.writeString(folder.resolve("gateway.yaml"), """
                        name: walks
                        listen: "127.0.0.1:0"
                        source: {endpoints: ["%s"]}
                        """.formatted(from)), Map.of(), Map.of()));
        client = channel(URI.create("http://127.0.0.1:" + gateway.apiPort()));
        source = channel(from);
        target = channel(to);
        await().atMost(Duration.ofSeconds(60))
                .until(() -> mirror.reports().get(0).state() == MirrorState.SYNCED && gateway.staleness() != null);
    }

    @AfterAll
    static void close() throws Exception {
        for (ManagedChannel each : new ManagedChannel[] {client, source, target}) {
            if (each != null) {
                each.shutdownNow();
            }
        }
        if (gateway != null) {
            gateway.close();
        }
        if (mirror != null) {
            mirror.close();
        }
    }

    @Test
    void keyToWatchEvent() throws Exception {
        AtomicLong received = new AtomicLong();
        CountDownLatch created = new CountDownLatch(1);
        WatchGrpc.newStub(client)
                .watch(new StreamObserver<>() {
                    @Override
                    public void onNext(WatchResponse response) {
                        if (response.getCreated()) {
                            created.countDown();
                        }
                        if (response.getEventsCount() > 0) {
                            received.set(response.getHeader().getRevision());
                        }
                    }

                    @Override
                    public void onError(Throwable failure) {}

                    @Override
                    public void onCompleted() {}
                })
                .onNext(WatchRequest.newBuilder()
                        .setCreateRequest(WatchCreateRequest.newBuilder().setKey(KEY))
                        .build());
        created.await();
        walk("key to watch event", MIRROR, () -> {
            long revision = put();
            awaitAtLeast(revision, received::get);
        });
    }

    @Test
    void commitToDrCluster() throws Exception {
        walk("commit to DR cluster", GATEWAY, () -> {
            var unused = put();
            ByteString value = ByteString.copyFromUtf8(String.valueOf(number));
            awaitAtLeast(1, () -> {
                var kvs = KVGrpc.newBlockingStub(target)
                        .range(RangeRequest.newBuilder().setKey(KEY).build())
                        .getKvsList();
                return kvs.size() == 1 && kvs.get(0).getValue().equals(value) ? 1 : 0;
            });
        });
    }

    @Test
    void jsonRange() throws Exception {
        HttpClient http = HttpClient.newHttpClient();
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + gateway.apiPort() + "/v3/kv/range"))
                .POST(BodyPublishers.ofString("{\"key\": \"L3dhbGtzL2tleQ==\", \"serializable\": true}"))
                .build();
        walk("JSON range", MIRROR, () -> assertThat(
                        http.send(request, BodyHandlers.ofString()).statusCode())
                .isEqualTo(200));
    }

    @Test
    void serializableRead() throws Exception {
        walk("serializable read", MIRROR, () -> read(true));
    }

    @Test
    void linearizableRead() throws Exception {
        walk("linearizable read", MIRROR, () -> read(false));
    }

    /** The last one: clients of the former primary are rejected afterwards. */
    @Test
    @Order(Integer.MAX_VALUE)
    void takeOver() throws Exception {
        switchOver(true);
        switchOver(false);
        check("take-over", executed(() -> switchOver(true)), GATEWAY);
        switchOver(false);
        try (TakeOver clusters = new TakeOver(settings.mirrors().get(0), null, null, OPTIONS.patience())) {
            var unused = clusters.release(true, OPTIONS).release();
        }
    }

    private static void switchOver(boolean isThere) throws Exception {
        await().atMost(PATIENCE).until(() -> mirror.reports().get(0).state() == MirrorState.SYNCED);
        try (TakeOver clusters = new TakeOver(settings.mirrors().get(0), null, null, OPTIONS.patience())) {
            Switchover move = isThere
                    ? clusters.switchover(OPTIONS.with(Way.AUTH_ENABLE), step -> {})
                    : clusters.failback(OPTIONS.with(Way.AUTH_ENABLE), step -> {});
            var unused = move.run();
        }
    }

    private static void read(boolean serializable) {
        var unused = KVGrpc.newBlockingStub(client)
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .range(RangeRequest.newBuilder()
                        .setKey(KEY)
                        .setSerializable(serializable)
                        .build());
    }

    private static int number;

    private static long put() {
        number++;
        return KVGrpc.newBlockingStub(source)
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .put(PutRequest.newBuilder()
                        .setKey(KEY)
                        .setValue(ByteString.copyFromUtf8(String.valueOf(number)))
                        .build())
                .getHeader()
                .getRevision();
    }

    private static void awaitAtLeast(long least, LongSupplier reached) {
        await().atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(1))
                .until(() -> reached.getAsLong() >= least);
    }

    private static void walk(String name, String beside, Request request) throws Exception {
        for (int i = 0; i < WARM; i++) {
            request.send();
        }
        SortedSet<String> stations = executed(request);
        for (int i = 1; i < ROUNDS; i++) {
            stations.retainAll(executed(request));
        }
        check(name, stations, beside);
    }

    /** @param beside the other process of this JVM, which sees the same commits */
    private static void check(String name, SortedSet<String> stations, String beside) throws IOException {
        stations.removeIf(station -> station.startsWith(beside));
        Matcher row = Pattern.compile("(?m)^\\| " + name + " \\| (\\d+) \\|").matcher(Files.readString(PAGE));
        assertThat(row.find()).as("row of '%s' in %s", name, PAGE).isTrue();
        assertThat(stations)
                .as("stations of '%s', at most as many as %s states: %s", name, PAGE, String.join("\n", stations))
                .hasSizeLessThanOrEqualTo(Integer.parseInt(row.group(1)));
        LOG.atInfo()
                .addKeyValue("walk", name)
                .addKeyValue("stations", stations.size())
                .log("{}", stations);
    }

    private static SortedSet<String> executed(Request request) throws Exception {
        agent.reset();
        request.send();
        ExecutionDataReader reader = new ExecutionDataReader(new ByteArrayInputStream(agent.getExecutionData(true)));
        SortedSet<String> stations = new TreeSet<>();
        reader.setSessionInfoVisitor(session -> {});
        reader.setExecutionDataVisitor(data -> {
            String name = data.getName().replace('/', '.').replaceFirst("\\$.*", "");
            if (name.startsWith("io.understudy.") && data.hasHits() && isStation(name)) {
                stations.add(name);
            }
        });
        var unused = reader.read();
        return stations;
    }

    /** Tests, metrics and values are none. */
    private static boolean isStation(String name) {
        try {
            Class<?> type = Class.forName(name, false, WalksIT.class.getClassLoader());
            String origin =
                    type.getProtectionDomain().getCodeSource().getLocation().getPath();
            return !origin.contains("test-classes")
                    && !origin.contains("local-cluster")
                    && !type.isRecord()
                    && !type.isEnum()
                    && !name.contains(".metrics.")
                    && !name.endsWith("Metrics");
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    private static ManagedChannel channel(URI at) {
        return NettyChannelBuilder.forAddress(at.getHost(), at.getPort())
                .usePlaintext()
                .build();
    }
}
