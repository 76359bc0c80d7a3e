package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
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
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.understudy.gateway.Gateway;
import io.understudy.gateway.GatewaySettings;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.mirror.MirrorConfiguration;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.vocabulary.KeyRange;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A gateway with both clusters of a mirror follows a switchover, while a client writes and another one watches.
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
    /** So that no revision of the source is one of the target, as after a seeding. */
    private static final int REVISIONS = 20_000;

    @TempDir
    private Path folder;

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
    }

    @Test
    void clientsContinueAtTheNewPrimary() throws Exception {
        LocalEtcd source = cluster("source");
        LocalEtcd target = cluster("target");
        ManagedChannel atTarget = channel(target.clientUrls().get(0));
        raiseRevision(atTarget);
        Path mirrors = write("mirror.yaml", """
                status: {listen: "127.0.0.1:0"}
                mirrors:
                  dr:
                    include: ["/app/"]
                    source: {endpoints: ["%s"], user: mirror, password: secret}
                    target: {etcd: {endpoints: ["%s"], user: mirror, password: secret, leases: ttl}}
                """, source, target);
        MirrorProcess mirror = opened(MirrorProcess.start(MirrorConfiguration.load(mirrors, Map.of(), Map.of())));
        awaitSynced(mirror, source);
        Path settings = write("gateway.yaml", """
                name: follower
                listen: "127.0.0.1:0"
                rest: {listen: "127.0.0.1:0"}
                writes: forward
                source:
                  endpoints: ["%s"]
                  mirror: dr
                  standby: {endpoints: ["%s"]}
                """, source, target);
        Gateway gateway = opened(Gateway.start(GatewaySettings.load(settings, Map.of(), Map.of())));
        ManagedChannel client = channel(URI.create("http://127.0.0.1:" + gateway.apiPort()));
        Watched watched = new Watched(client, 0);
        watched.created.await();
        Writer writer = opened(new Writer(client));
        writer.await(100);
        long before = range(client, 0).getHeader().getRevision();

        StringWriter out = new StringWriter();
        int status = Understudy.commandLine()
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(out))
                .execute("mirror", "switchover", "--config", mirrors.toString(), "--close", "corrupt-alarm", "--yes");
        assertThat(status).as(out.toString()).isZero();

        writer.await(100);
        long clusterId = range(atTarget, 0).getHeader().getClusterId();
        await().atMost(PATIENCE)
                .untilAsserted(() ->
                        assertThat(range(client, 0).getHeader().getClusterId()).isEqualTo(clusterId));
        await().atMost(PATIENCE).until(() -> gateway.staleness() != null);
        writer.await(100);
        writer.close();
        assertThat(writer.failures).isEmpty();

        RangeResponse now = range(client, 0);
        assertThat(now.getKvs(0).getValue()).isEqualTo(value(writer.acknowledged.get()));
        assertThat(range(atTarget, 0).getKvsList()).isEqualTo(now.getKvsList());
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(watched.values).hasSize(writer.acknowledged.get()));
        assertThat(watched.ended).isEmpty();
        for (int i = 0; i < writer.acknowledged.get(); i++) {
            assertThat(watched.values.get(i)).isEqualTo(value(i + 1));
        }
        assertThat(watched.revisions).isSorted().doesNotHaveDuplicates();

        Watched late = new Watched(client, before);
        await().atMost(PATIENCE).until(() -> !late.ended.isEmpty());
        assertThat(late.ended.get(0).getCompactRevision()).isGreaterThan(before);
        assertThat(late.values).isEmpty();
        assertThat(refusal(client, before)).contains("required revision has been compacted");
        LOG.atInfo().addKeyValue("pause_ms", writer.longestNanos / 1_000_000).log("writers' pause");
        if (System.getProperty("understudy.follow.report") != null) {
            Files.writeString(
                    Path.of(System.getProperty("understudy.follow.report")),
                    writer.longestNanos / 1_000_000 + "\n",
                    StandardOpenOption.CREATE,
                    StandardOpenOption.APPEND);
        }
    }

    private <C extends AutoCloseable> C opened(C resource) {
        open.add(resource);
        return resource;
    }

    private LocalEtcd cluster(String name) {
        LocalEtcd cluster = opened(LocalEtcd.builder()
                .name(name)
                .fsync(false)
                .dataDirectory(folder.resolve(name))
                .build());
        cluster.start();
        return cluster;
    }

    private Path write(String name, String text, LocalEtcd source, LocalEtcd target) throws Exception {
        return Files.writeString(
                folder.resolve(name),
                text.formatted(source.clientUrls().get(0), target.clientUrls().get(0)));
    }

    private ManagedChannel channel(URI at) {
        ManagedChannel channel = NettyChannelBuilder.forAddress(at.getHost(), at.getPort())
                .usePlaintext()
                .build();
        open.add(channel::shutdownNow);
        return channel;
    }

    private static void raiseRevision(ManagedChannel at) throws InterruptedException {
        CountDownLatch left = new CountDownLatch(REVISIONS);
        PutRequest put = PutRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8("/other"))
                .build();
        for (int i = 0; i < REVISIONS; i++) {
            KVGrpc.newFutureStub(at).put(put).addListener(left::countDown, Runnable::run);
        }
        assertThat(left.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    private static void awaitSynced(MirrorProcess mirror, LocalEtcd from) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(mirror.reports().get(0).state()).isEqualTo(MirrorState.SYNCED);
            assertThat(mirror.reports().get(0).source())
                    .contains(from.clientUrls().get(0).toString());
        });
    }

    private static RangeResponse range(ManagedChannel at, long revision) {
        return KVGrpc.newBlockingStub(at)
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
        private volatile long longestNanos;
        private volatile boolean closed;

        Writer(ManagedChannel at) {
            this.at = at;
            this.thread = new Thread(this::run, "writer");
            thread.start();
        }

        private void run() {
            long last = System.nanoTime();
            while (!closed && failures.isEmpty()) {
                try {
                    var unused = KVGrpc.newBlockingStub(at)
                            .withDeadlineAfter(20, TimeUnit.SECONDS)
                            .put(PutRequest.newBuilder()
                                    .setKey(KEY)
                                    .setValue(value(acknowledged.get() + 1))
                                    .build());
                    var unusedCount = acknowledged.incrementAndGet();
                } catch (StatusRuntimeException e) {
                    // Refused by the primary before the gateway saw the closing: not executed.
                    if (e.getStatus().getCode() != Status.Code.DATA_LOSS) {
                        failures.add(e);
                    }
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
