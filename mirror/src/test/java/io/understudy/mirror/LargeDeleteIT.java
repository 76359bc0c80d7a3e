package io.understudy.mirror;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.mirror.fixture.GatewayMain;
import io.understudy.mirror.fixture.MirrorJvm;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.fixture.Topic;
import io.understudy.vocabulary.KeyRange;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One commit deletes all of many keys of 200 bytes, by a request and by the end of a lease, while a gateway of 512 MiB and
 * mirrors into etcd and Kafka run, or while they are stopped. Each watcher gets every event or ends as compacted. Gateway
 * and mirrors continue, and all are equal afterwards. 1,500,000 keys exceed the replica's limit: the gateway drops it.
 *
 * <p>Tests invariants F2, V7.
 */
@Tag("volume")
@Timeout(3_600)
final class LargeDeleteIT {

    private static final Logger LOG = LoggerFactory.getLogger(LargeDeleteIT.class);
    private static final Duration PATIENCE = Duration.ofMinutes(20);
    private static final String TOPIC = "large";
    private static final String COMPACTED = "compacted";
    /** Number of keys that the replica can hold. */
    private static final int KEPT = 400_000;

    /** Of one transaction: below 1.5 MiB. */
    private static final int PUTS = 5_000;

    @RegisterExtension
    final EtcdExtension source = large("source");

    @RegisterExtension
    final EtcdExtension target = large("target");

    @RegisterExtension
    final KafkaExtension kafka = KafkaExtension.broker().own();

    private final HttpClient http = HttpClient.newHttpClient();
    private MirrorJvm gateway;
    private MirrorJvm mirror;
    private MirrorJvm log;

    private static EtcdExtension large(String name) {
        return EtcdExtension.voters(1)
                .named(name)
                .with(builder -> builder.extraArguments("--quota-backend-bytes=8000000000", "--max-txn-ops=" + PUTS));
    }

    @ParameterizedTest
    @CsvSource({"400000, false", "400000, true", "1500000, false", "1500000, true"})
    void oneDeletionOfManyKeysStopsNothing(int keys, boolean stopped, @TempDir Path folder) throws Exception {
        EtcdMember voter = source.cluster().leader();
        try (TestClient client = TestClient.of(voter);
                TestClient copy = TestClient.of(target.cluster().leader());
                MirrorJvm first = MirrorJvm.of(
                        Files.createDirectory(folder.resolve("gateway")),
                        GatewayMain.class,
                        "512m",
                        List.of(voter.directClientUrl().toString()));
                MirrorJvm second = MirrorJvm.etcd(
                        Files.createDirectory(folder.resolve("mirror")), source.cluster(), target.cluster());
                MirrorJvm third = MirrorJvm.kafka(
                        Files.createDirectory(folder.resolve("log")),
                        source.cluster(),
                        kafka.bootstrapServers(),
                        TOPIC);
                KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                        Map.of(
                                "bootstrap.servers",
                                kafka.bootstrapServers(),
                                "isolation.level",
                                "read_committed",
                                // Of 3,000,000 records, one poll per check of the condition
                                "max.poll.records",
                                50_000),
                        new ByteArrayDeserializer(),
                        new ByteArrayDeserializer())) {
            gateway = first;
            mirror = second;
            log = third;
            client.put("kept", "0");
            start();
            TopicPartition state = new TopicPartition(TOPIC + ".state", 0);
            await().atMost(PATIENCE).until(() -> consumer.listTopics().containsKey(state.topic()));
            consumer.assign(List.of(state));
            consumer.seekToBeginning(List.of(state));
            SortedMap<ByteString, ByteString> records = new TreeMap<>(KeyRange.KEY_ORDER);
            for (boolean byLease : new boolean[] {false, true}) {
                long lease = byLease ? client.lease(86_400) : 0;
                fill(client, keys, lease);
                awaitAlive(() -> count(copy) == keys);
                awaitGateway(reader -> count(reader) == keys);
                assertThat(page("/metrics").contains("_replica_ready{process=\"gateway\"} 1.0"))
                        .isEqualTo(keys <= KEPT);
                delete(client, keys, lease, stopped);
                SortedMap<ByteString, ByteString> contents = client.contents();
                assertThat(contents).hasSize(1);
                awaitAlive(() -> copy.contents().equals(contents));
                awaitGateway(reader -> reader.serializableContents().equals(contents));
                awaitAlive(() -> {
                    consumer.poll(Duration.ofSeconds(1)).forEach(record -> Topic.apply(records, record));
                    return records.equals(contents);
                });
            }
        }
    }

    private void delete(TestClient client, int keys, long lease, boolean stopped) throws Exception {
        long before = client.revision();
        List<Watcher> watchers = new ArrayList<>();
        if (stopped) {
            List.of(gateway, mirror, log).forEach(MirrorJvm::kill);
        } else {
            watchers.add(new Watcher(port(), before + 1, false));
            watchers.add(new Watcher(port(), before + 1, true));
        }
        try {
            if (lease == 0) {
                client.deleteRange("large/", "large0");
            } else {
                client.revoke(lease);
            }
        } catch (StatusRuntimeException e) {
            // etcd deletes that many in more than its own timeout.
        }
        await().atMost(PATIENCE).ignoreExceptions().until(() -> count(client) == 0);
        await().atMost(PATIENCE).ignoreExceptions().until(() -> client.revision() == before + 1);
        if (stopped) {
            start();
        }
        watchers.add(new Watcher(port(), before + 1, false));
        watchers.add(new Watcher(port(), before + 1, true));
        // etcd also exceeds its timeout for other requests while it prepares the deletions for a watch.
        long last = await().atMost(PATIENCE)
                .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
                .until(() -> client.put("kept", Long.toString(before)), revision -> revision > before + 1);
        for (Watcher watcher : watchers) {
            awaitAlive(() -> watcher.isPast(last));
            LOG.info("{} keys, lease {}, stopped {}: {}", keys, lease, stopped, watcher);
            watcher.requireAllOrCompacted(keys);
            watcher.close();
        }
    }

    private void start() {
        List.of(gateway, mirror, log).forEach(MirrorJvm::start);
        awaitGateway(reader -> true);
    }

    private void awaitGateway(Predicate<TestClient> condition) {
        awaitAlive(() -> {
            if (!page("/readyz").startsWith("ok")) {
                return false;
            }
            try (TestClient reader = TestClient.of("127.0.0.1", port())) {
                return condition.test(reader);
            }
        });
    }

    private void awaitAlive(Callable<Boolean> condition) {
        await().atMost(PATIENCE)
                .ignoreExceptionsMatching(e -> e instanceof StatusRuntimeException || e instanceof IOException)
                .until(() -> {
                    List.of(gateway, mirror, log).forEach(MirrorJvm::requireAlive);
                    return condition.call();
                });
    }

    private int port() throws IOException {
        return GatewayMain.port(gateway).orElseThrow(() -> new IOException("no port yet"));
    }

    private String page(String path) throws Exception {
        return http.send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private static void fill(TestClient client, int keys, long lease) {
        for (int i = 0; i < keys; i += PUTS) {
            TxnRequest.Builder txn = TxnRequest.newBuilder();
            for (int key = i; key < i + PUTS; key++) {
                txn.addSuccess(RequestOp.newBuilder()
                        .setRequestPut(PutRequest.newBuilder()
                                .setKey(ByteString.copyFromUtf8(String.format("large/%0194d", key)))
                                .setLease(lease)));
            }
            await().atMost(PATIENCE)
                    .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
                    .until(() -> client.kv().txn(txn.build()).getSucceeded());
        }
    }

    private static long count(TestClient client) {
        return client.kv()
                .range(RangeRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8("large/"))
                        .setRangeEnd(ByteString.copyFromUtf8("large0"))
                        .setCountOnly(true)
                        .build())
                .getCount();
    }

    /** A watcher of all keys, which counts deletions. */
    private static final class Watcher implements StreamObserver<WatchResponse>, AutoCloseable {

        /** {@code fragment}, which this client lacks: of 1,500,000 events it could not hold one response. */
        private static final UnknownFieldSet FRAGMENTED = UnknownFieldSet.newBuilder()
                .addField(8, UnknownFieldSet.Field.newBuilder().addVarint(1).build())
                .build();

        private final ManagedChannel channel;
        private long deleted;
        private long reached;
        private String end = "";

        Watcher(int port, long start, boolean previous) {
            channel = NettyChannelBuilder.forAddress("127.0.0.1", port)
                    .usePlaintext()
                    .maxInboundMessageSize(256 << 20)
                    .build();
            ByteString zero = ByteString.copyFrom(new byte[] {0});
            WatchGrpc.newStub(channel)
                    .watch(this)
                    .onNext(WatchRequest.newBuilder()
                            .setCreateRequest(WatchCreateRequest.newBuilder()
                                    .setKey(zero)
                                    .setRangeEnd(zero)
                                    .setStartRevision(start)
                                    .setPrevKv(previous)
                                    .setUnknownFields(FRAGMENTED))
                            .build());
        }

        @Override
        public synchronized void onNext(WatchResponse response) {
            for (Event event : response.getEventsList()) {
                deleted += event.getType() == Event.EventType.DELETE ? 1 : 0;
                reached = event.getKv().getModRevision();
            }
            if (response.getCanceled()) {
                end = response.getCompactRevision() > 0 ? COMPACTED : "\"" + response.getCancelReason() + "\"";
            }
        }

        @Override
        public synchronized void onError(Throwable failure) {
            end = failure.toString();
        }

        @Override
        public synchronized void onCompleted() {
            end = "completed";
        }

        synchronized boolean isPast(long revision) {
            return reached >= revision || !end.isEmpty();
        }

        synchronized void requireAllOrCompacted(int keys) {
            assertThat((end.isEmpty() && deleted == keys) || end.equals(COMPACTED))
                    .as(toString())
                    .isTrue();
        }

        @Override
        public synchronized String toString() {
            return deleted + " deletions, revision " + reached + ", end: " + end;
        }

        @Override
        public void close() {
            channel.shutdownNow();
        }
    }
}
