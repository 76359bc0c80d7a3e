package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.config.Binder;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdMessages;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.MemberDiscovery;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.feed.etcd.SnapshotReader;
import io.understudy.local.fault.FaultProxy;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A gateway sends a snapshot as one stream; voting members, and what a gateway lacks, are read by pages.
 *
 * <p>Tests invariant F11.
 */
@Timeout(180)
final class SnapshotStreamIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static final int KEYS = 2_000;
    /** In all more than a reader and its connection buffer. */
    private static final ByteString VALUE = ByteString.copyFrom(new byte[16_000]);

    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(2);
    private static final EtcdFeedOptions OPTIONS =
            Binder.with(EtcdFeedOptions.DEFAULTS.withPageBytes(256 << 10), "requestTimeout", REQUEST_TIMEOUT);

    private GatewayFixture parent;
    private FaultProxy network;
    private EtcdCluster source;

    @BeforeAll
    static void fill() {
        for (int from = 0; from < KEYS; from += 50) {
            TxnRequest.Builder txn = TxnRequest.newBuilder();
            IntStream.range(from, from + 50).forEach(i -> txn.addSuccess(put(i, VALUE)));
            write(txn.build());
        }
    }

    private static RequestOp put(int key, ByteString value) {
        return EtcdMessages.put(ByteString.copyFromUtf8("key/%05d".formatted(key)), value);
    }

    private static void write(TxnRequest txn) {
        ManagedChannel channel = GatewayFixture.channel(member().getHost(), member().getPort());
        try {
            var unused = GatewayFixture.kv(channel).txn(txn);
        } finally {
            channel.shutdownNow();
        }
    }

    private static URI member() {
        return SOURCE.cluster().leader().clientUrl();
    }

    private void start(GatewaySettings settings) throws Exception {
        parent = new GatewayFixture(settings);
        parent.awaitReady();
        network = FaultProxy.to(new InetSocketAddress(InetAddress.getLoopbackAddress(), parent.gateway.apiPort()));
        source = connect(URI.create("http://127.0.0.1:" + network.port()));
    }

    private static EtcdCluster connect(URI uri) {
        EtcdCluster cluster = EtcdCluster.connect(
                EtcdSettings.of(uri).withDiscovery(MemberDiscovery.CONFIGURED), new SimpleMeterRegistry());
        await().atMost(PATIENCE).until(() -> !cluster.view().members().isEmpty());
        return cluster;
    }

    @AfterEach
    void stop() {
        if (parent != null) {
            source.close();
            network.close();
            parent.close();
        }
    }

    @Test
    void aGatewayStreamsAllPages() throws Exception {
        start(GatewayFixture.settings(SOURCE.cluster()));
        List<KeyValue> expected = all(member());

        try (SnapshotReader reader = reader(source, KeyRange.all())) {
            assertThat(rest(reader, KeyRange.all())).isEqualTo(expected);
        }

        assertThat(streams("OK")).isEqualTo(1);
    }

    @Test
    void theStreamWaitsForItsReader() throws Exception {
        start(GatewayFixture.settings(SOURCE.cluster()));
        long before = network.bytesFromTarget();

        try (SnapshotReader reader = reader(source, KeyRange.all())) {
            assertThat(next(reader)).isNotNull();
            long all = (long) KEYS * VALUE.size();
            await().atMost(PATIENCE).until(() -> network.bytesFromTarget() - before > all / 8);
            await().during(Duration.ofMillis(500))
                    .atMost(PATIENCE)
                    .until(() -> network.bytesFromTarget() - before < all / 2);
            // No deadline passes meanwhile.
            await().during(REQUEST_TIMEOUT.plusMillis(500)).atMost(PATIENCE).until(() -> streams("CANCELLED") == 0);
            // gRPC refills the connection's window for unread data, so other calls of the connection are answered.
            Endpoint endpoint = Endpoint.of(URI.create("http://127.0.0.1:" + network.port()));
            assertThat(KVGrpc.newBlockingStub(source.channel(endpoint))
                            .withDeadlineAfter(10, TimeUnit.SECONDS)
                            .range(EtcdMessages.range(KeyRange.single(ByteString.copyFromUtf8("key/00000")))
                                    .build())
                            .getKvsCount())
                    .isEqualTo(1);
            while (!reader.isDone()) {
                next(reader);
            }
        }

        assertThat(streams("OK")).isEqualTo(1);
    }

    @Test
    void aBrokenStreamContinuesAtTheSameRevision() throws Exception {
        start(GatewayFixture.settings(SOURCE.cluster()));
        List<KeyValue> expected = all(member());

        try (SnapshotReader reader = reader(source, KeyRange.all())) {
            List<KeyValue> read = new ArrayList<>(next(reader).entries());
            KeyRange rest =
                    new KeyRange(KeyRange.successor(read.get(read.size() - 1).key()), null);
            write(TxnRequest.newBuilder()
                    .addSuccess(put(KEYS - 1, ByteString.copyFromUtf8("later")))
                    .build());
            network.cut();
            network.heal();
            read.addAll(rest(reader, rest));

            assertThat(read).isEqualTo(expected);
            assertThat(streams("OK")).isEqualTo(1);
        } finally {
            write(TxnRequest.newBuilder().addSuccess(put(KEYS - 1, VALUE)).build());
        }
    }

    @Test
    void aStreamWithoutMessagesIsGivenUp() throws Exception {
        start(GatewayFixture.settings(SOURCE.cluster()));
        List<KeyValue> expected = all(member());

        try (SnapshotReader reader = reader(source, KeyRange.all())) {
            network.blackHole();
            assertThat(reader.next(PATIENCE)).isNull();
            network.heal();

            assertThat(rest(reader, KeyRange.all())).isEqualTo(expected);
        }

        assertThat(streams("OK")).isEqualTo(1);
    }

    @Test
    void nothingIsReadFromAnotherCluster() throws Exception {
        start(GatewayFixture.settings(SOURCE.cluster()));
        Revision present = new Revision(revision(member()));

        try (SnapshotReader reader = new SnapshotReader(source, new ClusterId(1), KeyRange.all(), present, OPTIONS)) {
            assertThat(reader.next(PATIENCE)).isNull();
            assertThat(reader.givenBy()).isNull();
        }

        await().atMost(PATIENCE).until(() -> streams("CANCELLED") > 0);
    }

    /** The gateway would read them from the voting members, all at once. */
    @Test
    void keysThatTheGatewayLacksComeByPages() throws Exception {
        start(GatewayFixture.settings(SOURCE.cluster()).withPrefix("key/0"));
        List<KeyValue> expected = all(member());

        try (SnapshotReader reader = reader(source, KeyRange.all())) {
            assertThat(rest(reader, KeyRange.all())).isEqualTo(expected);
        }

        assertThat(streams("UNIMPLEMENTED")).isEqualTo(1);
        assertThat(streams("OK")).isZero();
    }

    @Test
    void votingMembersAreReadByPages() throws Exception {
        List<KeyValue> expected = all(member());
        try (EtcdCluster voters = connect(member());
                SnapshotReader reader = reader(voters, KeyRange.all())) {
            assertThat(rest(reader, KeyRange.all())).isEqualTo(expected);
        }

        try (var page = member().resolve("/metrics").toURL().openStream()) {
            assertThat(new String(page.readAllBytes(), StandardCharsets.UTF_8).lines())
                    .filteredOn(line -> line.startsWith("grpc_server_started_total{")
                            && line.contains("\"RangeStream\"")
                            && !line.endsWith(" 0"))
                    .isEmpty();
        }
    }

    private static SnapshotReader reader(EtcdCluster cluster, KeyRange range) {
        ClusterId clusterId = cluster.view().clusterId();
        Revision present = new Revision(revision(member()));
        return new SnapshotReader(cluster, clusterId, range, present, OPTIONS);
    }

    private static SnapshotReader.Page next(SnapshotReader reader) throws Exception {
        while (true) {
            SnapshotReader.Page page = reader.next(PATIENCE);
            if (page != null) {
                return page;
            }
        }
    }

    /** Reads the rest of a snapshot and requires that its pages adjoin. */
    private static List<KeyValue> rest(SnapshotReader reader, KeyRange range) throws Exception {
        List<KeyValue> entries = new ArrayList<>();
        ByteString from = range.from();
        while (!reader.isDone()) {
            SnapshotReader.Page page = next(reader);
            assertThat(page.covered().from()).isEqualTo(from);
            from = page.covered().to();
            entries.addAll(page.entries());
        }
        assertThat(from).isEqualTo(range.to());
        return entries;
    }

    private static long revision(URI server) {
        ManagedChannel channel = GatewayFixture.channel(server.getHost(), server.getPort());
        try {
            return GatewayFixture.kv(channel)
                    .range(RangeRequest.newBuilder()
                            .setKey(ByteString.copyFromUtf8("any"))
                            .build())
                    .getHeader()
                    .getRevision();
        } finally {
            channel.shutdownNow();
        }
    }

    private static List<KeyValue> all(URI server) {
        ManagedChannel channel = GatewayFixture.channel(server.getHost(), server.getPort());
        try {
            return GatewayFixture.kv(channel).range(GatewayFixture.everythingRequest()).getKvsList().stream()
                    .map(EtcdMessages::keyValue)
                    .toList();
        } finally {
            channel.shutdownNow();
        }
    }

    /** Number of streams that the gateway ended with this code. */
    private double streams(String code) {
        return parent.page("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("understudy_gateway_requests_seconds_count{")
                        && line.contains("method=\"etcdserverpb.KV/RangeStream\"")
                        && line.contains("code=\"" + code + "\""))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }
}
