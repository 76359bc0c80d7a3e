package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.PutResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.gateway.metrics.GatewayMeter;
import io.understudy.gateway.metrics.GatewayMetrics;
import io.understudy.gateway.replica.Replica;
import io.understudy.gateway.replica.ReplicaWriter;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.fault.FaultProxy;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.vertx.core.Vertx;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * A gateway between two clusters. The test writes their primary records, as a switchover does, in both directions.
 *
 * <p>Tests invariants C1, G3, G4.
 */
@Timeout(180)
final class FollowedPrimaryIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    @RegisterExtension
    static final EtcdExtension STANDBY =
            EtcdExtension.voters(1).named("standby").behindProxies();

    private static final ByteString KEY = ByteString.copyFromUtf8("/app/count");
    private static final ByteString RECORD = ByteString.copyFromUtf8("\0understudy/home/dr");
    private static final int MOVES = 6;
    private static final int PUTS_AT_ONCE = 500;

    @TempDir
    private Path folder;

    private final List<AutoCloseable> open = new ArrayList<>();
    private Cluster source;
    private Cluster standby;
    private GatewaySettings settings;
    private GatewayFixture fixture;
    /** End marker of the last move. */
    private long end;

    private long epoch;
    /** Hexadecimal. */
    private String mirrored = "";

    @BeforeEach
    void start() throws Exception {
        source = new Cluster(SOURCE.cluster());
        standby = new Cluster(STANDBY.cluster());
        source.record(source, 0, "steady", 0);
        standby.record(source, 0, "steady", 0);
        Path file = Files.writeString(folder.resolve("gateway.yaml"), """
                name: follower
                listen: "127.0.0.1:0"
                rest: {listen: "127.0.0.1:0"}
                writes: forward
                feed: {stallTimeout: 500ms, progressInterval: 100ms}
                source:
                  endpoints: ["%s"]
                  mirror: dr
                  standby: {endpoints: ["%s"]}
                """.formatted(
                        SOURCE.cluster().clientUrls().get(0),
                        STANDBY.cluster().clientUrls().get(0)));
        settings = GatewaySettings.load(file, Map.of(), Map.of());
        fixture = new GatewayFixture(Gateway.start(settings));
        fixture.awaitReady();
    }

    @AfterEach
    void stop() throws Exception {
        fixture.close();
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    @Test
    void noLinearizableReadIsServedFromTheFormerPrimary_whileTheNewRecordCannotBeRead() throws Exception {
        source.put(KEY, "before");
        standby.put(KEY, "before");
        standby.advanceTo(source.revision() + 1);
        FaultProxy link = standby.etcd.voters().get(0).clientProxy();
        link.blackHole();
        try {
            move(source, standby, "after");
            for (int i = 0; i < 3; i++) {
                assertThatThrownBy(() -> GatewayFixture.kv(fixture.channel())
                                .withDeadlineAfter(1, TimeUnit.SECONDS)
                                .range(request().build()))
                        .isInstanceOf(StatusRuntimeException.class);
            }
        } finally {
            link.heal();
        }
        assertThat(linearizable()).isEqualTo("after");
        complete(source, standby);
    }

    /** The read follows the write at once, and the write the move. */
    @Test
    void aLinearizableReadSeesWhatTheNewPrimaryAcknowledged() throws Exception {
        Cluster from = source;
        Cluster to = standby;
        for (int i = 1; i <= MOVES; i++) {
            from.put(KEY, "before " + i);
            to.put(KEY, "before " + i);
            to.advanceTo(from.revision() + 1);
            move(from, to, "after " + i);
            assertThat(linearizable()).isEqualTo("after " + i);
            complete(from, to);
            assertThat(linearizable()).isEqualTo("after " + i);
            Cluster former = from;
            from = to;
            to = former;
        }
        assertThat(fixture.gateway.failure()).isNotDone();
    }

    @Test
    void readsContinueWhileThePrimaryCloses() {
        source.put(KEY, "1");
        source.record(source, epoch, "closing", 0);
        for (int i = 0; i < 5; i++) {
            assertThat(linearizable()).isEqualTo("1");
        }
        source.record(source, epoch, "steady", 0);
        fixture.kv().put(PutRequest.newBuilder().setKey(KEY).build());
    }

    @Test
    void aMoveToLowerRevisionsCancelsWatchesAsCompacted_andTheGatewayContinues() throws Exception {
        source.advanceTo(standby.revision() + 50);
        source.put(KEY, "1");
        standby.put(KEY, "1");
        fixture.awaitRevision(source.revision());
        long before = fixture.kv().range(request().build()).getHeader().getRevision();
        Watched running = watch(0);
        Watched ahead = watch(before + 1);
        await().atMost(PATIENCE).until(() -> running.isCreated() && ahead.isCreated());

        move(source, standby, "2");
        complete(source, standby);
        assertThat(linearizable()).isEqualTo("2");
        await().atMost(PATIENCE).until(() -> running.ended() && ahead.ended());
        RangeResponse after = fixture.kv().range(request().build());
        assertThat(after.getHeader().getRevision()).isLessThan(before);
        assertThat(after.getHeader().getClusterId()).isEqualTo(standby.id());

        // As a client resumes that was not connected: without an answer it would miss all events up to there.
        Watched resumed = watch(before + 1);
        await().atMost(PATIENCE).until(resumed::ended);
        assertThat(resumed.compactRevision()).isPositive().isLessThan(before);

        Watched listed = watch(after.getHeader().getRevision() + 1);
        await().atMost(PATIENCE).until(listed::isCreated);
        fixture.kv().put(PutRequest.newBuilder().setKey(KEY).setValue(text("3")).build());
        await().atMost(PATIENCE).until(() -> listed.values().equals(List.of("3")));
        assertThat(linearizable()).isEqualTo("3");
        assertThat(fixture.gateway.failure()).isNotDone();
        fixture.awaitReady();

        // The next process has only the record.
        fixture.close();
        fixture = new GatewayFixture(Gateway.start(settings));
        fixture.awaitReady();
        Watched later = watch(before + 1);
        Watched earlier = watch(2);
        await().atMost(PATIENCE).until(() -> later.ended() && earlier.ended());
        assertThat(earlier.values()).isEmpty();
    }

    @Test
    void watchesOfKeysThatAreNotMirroredAreCancelled() throws Exception {
        for (String include : List.of("", "2f6170702f")) {
            mirrored = include;
            Cluster from = epoch % 2 == 0 ? source : standby;
            Cluster to = epoch % 2 == 0 ? standby : source;
            from.put(KEY, "1");
            to.put(KEY, "1");
            to.advanceTo(from.revision() + 5);
            fixture.awaitRevision(from.revision());
            Watched running = watch(0);
            Watched all = watch(ByteString.copyFromUtf8("/"), 0);
            await().atMost(PATIENCE).until(() -> running.isCreated() && all.isCreated());
            move(from, to, "2");
            complete(from, to);
            await().atMost(PATIENCE).until(() -> running.values().contains("2"));
            await().atMost(PATIENCE).until(() -> all.ended() || all.values().contains("2"));
            assertThat(running.ended()).isFalse();
            assertThat(all.ended()).as("include %s", include).isEqualTo(!include.isEmpty());
        }
    }

    @Test
    void aMoveThatFailsIsReportedAndRepeated() throws Exception {
        AtomicBoolean failing = new AtomicBoolean();
        MeterRegistry registry = new SimpleMeterRegistry();
        String gauge = GatewayMeter.PERMISSIONS_ENFORCED.metric().name();
        registry.config().onMeterAdded(meter -> {
            if (failing.get() && meter.getId().getName().equals(gauge)) {
                throw new IllegalStateException("no permissions");
            }
        });
        SourceSettings.Etcd etcd = (SourceSettings.Etcd) settings.source();
        Replica replica = new Replica(settings.range(), state -> {});
        FollowedSource followed = new FollowedSource(
                etcd,
                Objects.requireNonNull(etcd.standby()),
                settings,
                replica,
                new GatewayMetrics(registry),
                registry);
        Vertx vertx = Vertx.vertx();
        try {
            var unused = followed.permissions(vertx);
            followed.start(new ReplicaWriter(replica, followed.feeds(), took -> {}, () -> {}));
            failing.set(true);
            move(source, standby, "after");
            await().atMost(PATIENCE).until(() -> followed.problem().isPresent());
            assertThat(followed.problem()).hasValue("cannot follow the primary: no permissions");
            failing.set(false);
            await().atMost(PATIENCE).until(() -> followed.problem().isEmpty());
            await().atMost(PATIENCE).until(() -> new ClusterId(standby.id()).equals(followed.cluster()));
            complete(source, standby);
        } finally {
            followed.close(new ShutdownSteps(PATIENCE));
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    @Test
    void aStandbyThatHangsIsNoted() {
        standby.etcd.voters().get(0).pause();
        try {
            await().atMost(PATIENCE)
                    .until(() -> fixture.page("/readyz?verbose").body().contains("primary record at standby"));
        } finally {
            standby.etcd.voters().get(0).resume();
        }
        await().atMost(PATIENCE)
                .until(() -> !fixture.page("/readyz?verbose").body().contains("primary record at standby"));
    }

    /** Up to the first write that the new primary acknowledges. */
    private void move(Cluster from, Cluster to, String value) {
        from.record(from, epoch, "closing", 0);
        end = from.revision();
        epoch++;
        to.record(to, epoch, "moved", end);
        to.put(KEY, value);
    }

    private void complete(Cluster from, Cluster to) {
        to.record(to, epoch, "steady", end);
        from.record(to, epoch, "steady", end);
    }

    private static RangeRequest.Builder request() {
        return RangeRequest.newBuilder().setKey(KEY);
    }

    /** Fails as long as it is not certain; what it returns is never of the former primary. */
    private String linearizable() {
        String[] value = new String[1];
        await().atMost(PATIENCE).pollDelay(Duration.ZERO).until(() -> {
            try {
                value[0] = fixture.kv()
                        .range(request().build())
                        .getKvs(0)
                        .getValue()
                        .toStringUtf8();
                return true;
            } catch (StatusRuntimeException e) {
                assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
                return false;
            }
        });
        return value[0];
    }

    private Watched watch(long start) {
        return watch(ByteString.EMPTY, start);
    }

    /** Watches a prefix; the key if empty. */
    private Watched watch(ByteString prefix, long start) {
        ByteString end = prefix.isEmpty() ? prefix : KeyRange.prefix(prefix).etcdRangeEnd();
        Watched watched = new Watched();
        WatchGrpc.newStub(fixture.channel())
                .watch(watched)
                .onNext(WatchRequest.newBuilder()
                        .setCreateRequest(WatchCreateRequest.newBuilder()
                                .setKey(prefix.isEmpty() ? KEY : prefix)
                                .setRangeEnd(end)
                                .setStartRevision(start))
                        .build());
        return watched;
    }

    private static ByteString text(String value) {
        return ByteString.copyFromUtf8(value);
    }

    /** A side, written directly. */
    private final class Cluster {

        private final LocalEtcd etcd;
        private final ManagedChannel channel;

        Cluster(LocalEtcd etcd) {
            this.etcd = etcd;
            URI direct = etcd.voters().get(0).directClientUrl();
            this.channel = GatewayFixture.channel(direct.getHost(), direct.getPort());
            open.add(channel::shutdownNow);
        }

        void put(ByteString key, String value) {
            GatewayFixture.kv(channel)
                    .put(PutRequest.newBuilder()
                            .setKey(key)
                            .setValue(text(value))
                            .build());
        }

        /** Other tests may have written thousands of revisions to one of the clusters. */
        void advanceTo(long revision) throws Exception {
            PutRequest put = PutRequest.newBuilder()
                    .setKey(ByteString.copyFromUtf8("/other"))
                    .build();
            for (long missing = revision - revision(); missing > 0; missing = revision - revision()) {
                List<Future<PutResponse>> puts = new ArrayList<>();
                for (int i = 0; i < Math.min(missing, PUTS_AT_ONCE); i++) {
                    puts.add(KVGrpc.newFutureStub(channel).put(put));
                }
                for (Future<PutResponse> each : puts) {
                    var unused = each.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                }
            }
        }

        void record(Cluster primary, long moves, String phase, long endMarker) {
            put(RECORD, """
                    {"format":2,"mirror":"dr","home":"%s","moves":%d,
                     "scope":{"include":["%s"],"exclude":[],"from":"","to":""},
                     "move":{"phase":"%s","operation":{"kind":"switchover"},"endMarker":%d}}
                    """.formatted(Long.toHexString(primary.id()), moves, mirrored, phase, endMarker));
        }

        long revision() {
            return GatewayFixture.kv(channel)
                    .range(request().build())
                    .getHeader()
                    .getRevision();
        }

        long id() {
            return GatewayFixture.kv(channel)
                    .range(request().build())
                    .getHeader()
                    .getClusterId();
        }
    }

    /** What a watch received. */
    private static final class Watched implements StreamObserver<WatchResponse> {

        private final List<WatchResponse> responses = new CopyOnWriteArrayList<>();
        private volatile boolean failed;

        @Override
        public void onNext(WatchResponse response) {
            responses.add(response);
        }

        @Override
        public void onError(Throwable failure) {
            failed = true;
        }

        @Override
        public void onCompleted() {
            failed = true;
        }

        boolean isCreated() {
            return responses.stream().anyMatch(WatchResponse::getCreated);
        }

        boolean ended() {
            return failed || compactRevision() > 0;
        }

        long compactRevision() {
            return responses.stream()
                    .mapToLong(WatchResponse::getCompactRevision)
                    .max()
                    .orElse(0);
        }

        List<String> values() {
            return responses.stream()
                    .flatMap(response -> response.getEventsList().stream())
                    .map(event -> event.getKv().getValue().toStringUtf8())
                    .toList();
        }
    }
}
