package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.AlarmRequest;
import io.etcd.jetcd.api.CampaignRequest;
import io.etcd.jetcd.api.CampaignResponse;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.ElectionGrpc;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaderRequest;
import io.etcd.jetcd.api.LeaderResponse;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.MoveLeaderRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.PutResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.ResignRequest;
import io.etcd.jetcd.api.SnapshotRequest;
import io.etcd.jetcd.api.SnapshotResponse;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.lock.LockGrpc;
import io.etcd.jetcd.api.lock.LockRequest;
import io.etcd.jetcd.api.lock.LockResponse;
import io.etcd.jetcd.api.lock.UnlockRequest;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.understudy.config.Binder;
import io.understudy.gateway.forward.EtcdMethod.Bytes;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.gateway.read.ReadSettings;
import io.understudy.gateway.server.RawHttp2;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.process.Command;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * With {@code writes: forward} a gateway is all that a client needs to know of.
 *
 * <p>Tests invariants W2, W3.
 */
@Timeout(120)
final class ForwardingIT {

    @RegisterExtension
    static final EtcdExtension SOURCE =
            EtcdExtension.voters(3).learners(1).named("source").own();

    private static GatewayFixture fixture;
    private static ManagedChannel client;
    private static ManagedChannel direct;

    @TempDir
    private Path folder;

    @BeforeAll
    static void open() throws Exception {
        fixture = new GatewayFixture(
                GatewayFixture.settings(SOURCE.cluster()).with(ForwardSettings.DEFAULTS.with(Writes.FORWARD)));
        fixture.awaitReady();
        client = GatewayFixture.channel("127.0.0.1", fixture.gateway.apiPort());
        var voter = SOURCE.cluster().followers().get(0).directClientUrl();
        direct = GatewayFixture.channel(voter.getHost(), voter.getPort());
    }

    @AfterAll
    static void close() {
        client.shutdownNow();
        direct.shutdownNow();
        fixture.close();
    }

    @Test
    void keysAreWrittenDeletedAndCompacted() {
        assertThat(fixture.etcdctl("put", "k", "v")).isEqualTo("OK\n");
        assertThat(SOURCE.cluster().etcdctl("get", "k")).isEqualTo("k\nv\n");
        assertThat(fixture.etcdctl("put", "k", "w", "--prev-kv")).isEqualTo("OK\nk\nv\n");
        assertThat(fixture.etcdctl("del", "k")).isEqualTo("1\n");
        assertThat(fixture.etcdctl("compaction", "2")).isEqualTo("compacted revision 2\n");
    }

    @Test
    void transactionsThatWriteAreForwarded() throws Exception {
        Process txn = start("txn");
        try (var in = txn.outputWriter(StandardCharsets.UTF_8)) {
            in.write("version(\"t\") = \"0\"\n\nput t 1\n\nget t\n\n");
        }
        assertThat(new String(txn.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                .contains("SUCCESS", "OK");
        assertThat(SOURCE.cluster().etcdctl("get", "t")).isEqualTo("t\n1\n");
    }

    @Test
    void unreadResponsesToForwardedCallsAreLimited() throws Exception {
        try (GatewayFixture limited = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster())
                .with(ForwardSettings.DEFAULTS.with(Writes.FORWARD))
                .with(Binder.with(ReadSettings.DEFAULTS, "maxPassedThroughBytes", 16L << 20)))) {
            limited.awaitReady();
            PutRequest put = PutRequest.newBuilder()
                    .setKey(ByteString.copyFromUtf8("unread"))
                    .setValue(ByteString.copyFrom(new byte[300 << 10]))
                    .setPrevKv(true)
                    .build();
            assertThat(limited.kv().put(put).hasHeader()).isTrue();
            ManagedChannel slow = NettyChannelBuilder.forAddress("127.0.0.1", limited.gateway.apiPort())
                    .usePlaintext()
                    .flowControlWindow(64 << 10)
                    .build();
            Queue<Status> refused = new ConcurrentLinkedQueue<>();
            for (int i = 0; i < 16; i++) {
                ClientCall<PutRequest, PutResponse> call = slow.newCall(KVGrpc.getPutMethod(), CallOptions.DEFAULT);
                call.start(
                        new ClientCall.Listener<>() {
                            @Override
                            public void onClose(Status status, Metadata trailers) {
                                refused.add(status);
                            }
                        },
                        new Metadata());
                call.sendMessage(put);
                call.halfClose();
            }
            // The share of a connection is a quarter of a quarter.
            await().atMost(PATIENCE).until(() -> refused.size() == 13);
            assertThat(refused).allSatisfy(status -> assertThat(status.toString())
                    .contains("UNAVAILABLE", "request timed out, possibly due to connection lost"));
            assertThat(sum(limited, "understudy_gateway_passedthrough_bytes")).isBetween(900.0 * 1024, 1024.0 * 1024);
            assertThat(limited.kv().put(put).getPrevKv().getValue().size()).isEqualTo(300 << 10);

            slow.shutdownNow();
            await().atMost(PATIENCE).until(() -> sum(limited, "understudy_gateway_passedthrough_bytes") == 0);
        }
    }

    /** etcd's clients do not repeat failed writes. */
    @Test
    void aWriteBesideAnUnreadRangeSucceeds() throws Exception {
        KVGrpc.KVBlockingStub kv = fixture.kv();
        long past = 0;
        for (String end : List.of("1", "2", "after")) {
            past = kv.put(PutRequest.newBuilder()
                                    .setKey(ByteString.copyFromUtf8("range" + end))
                                    .setValue(ByteString.copyFrom(new byte[1 << 20]))
                                    .build())
                            .getHeader()
                            .getRevision()
                    - 1;
        }
        try (GatewayFixture limited = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster())
                .with(ForwardSettings.DEFAULTS.with(Writes.FORWARD))
                .with(Binder.with(ReadSettings.DEFAULTS, "maxPassedThroughBytes", 4L << 20)))) {
            limited.awaitReady();
            ManagedChannel slow = NettyChannelBuilder.forAddress("127.0.0.1", limited.gateway.apiPort())
                    .usePlaintext()
                    .flowControlWindow(64 << 10)
                    .build();
            ClientCall<RangeRequest, RangeResponse> range = slow.newCall(KVGrpc.getRangeMethod(), CallOptions.DEFAULT);
            range.start(new ClientCall.Listener<>() {}, new Metadata());
            range.sendMessage(RangeRequest.newBuilder()
                    .setKey(ByteString.copyFromUtf8("range"))
                    .setRangeEnd(ByteString.copyFromUtf8("rangf"))
                    .setRevision(past)
                    .build());
            range.halfClose();
            await().atMost(PATIENCE)
                    .until(() -> (int) sum(limited, "understudy_gateway_passedthrough_bytes") >> 20 == 2);

            ByteString key = ByteString.copyFromUtf8("beside an unread range");
            var put = KVGrpc.newFutureStub(slow)
                    .put(PutRequest.newBuilder().setKey(key).build());
            await().atMost(PATIENCE)
                    .until(() -> limited.kv()
                                    .range(RangeRequest.newBuilder().setKey(key).build())
                                    .getKvsCount()
                            == 1);
            range.request(2);
            assertThat(put.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).hasHeader())
                    .isTrue();
            slow.shutdownNow();
        }
    }

    /** Otherwise a client without a window could collect them without limit. */
    @Test
    void smallUnreadResponsesToForwardedCallsAreCounted() throws Exception {
        ByteString key = ByteString.copyFromUtf8("small");
        int bytes = 8_000;
        int calls = 20;
        assertThat(fixture.kv()
                        .put(PutRequest.newBuilder()
                                .setKey(key)
                                .setValue(ByteString.copyFrom(new byte[bytes]))
                                .build())
                        .hasHeader())
                .isTrue();
        byte[] txn = TxnRequest.newBuilder()
                .addSuccess(RequestOp.newBuilder()
                        .setRequestRange(RangeRequest.newBuilder().setKey(key)))
                .addSuccess(RequestOp.newBuilder()
                        .setRequestPut(PutRequest.newBuilder().setKey(ByteString.copyFromUtf8("beside"))))
                .build()
                .toByteArray();
        try (RawHttp2 slow = new RawHttp2(fixture.gateway.apiPort(), PATIENCE)) {
            // An initial window of 0.
            slow.frame(RawHttp2.SETTINGS, 0, 0, new byte[] {0, 4, 0, 0, 0, 0});
            for (int i = 0; i < calls; i++) {
                int stream = 2 * i + 1;
                slow.call(stream, "/etcdserverpb.KV/Txn", false, List.of());
                slow.frame(RawHttp2.DATA, RawHttp2.END_STREAM, stream, RawHttp2.message(txn));
            }
            slow.flush();
            await().atMost(PATIENCE)
                    .until(() -> sum(fixture, "understudy_gateway_passedthrough_bytes") >= calls * bytes);
        }
        await().atMost(PATIENCE).until(() -> sum(fixture, "understudy_gateway_passedthrough_bytes") == 0);
        countsUnreadJson(bytes);
    }

    private static void countsUnreadJson(int bytes) throws Exception {
        int calls = 20;
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        // POST, without TLS.
        head.write(0x83);
        head.write(0x86);
        RawHttp2.literal(head, 0, ":path", "/v3/kv/txn");
        RawHttp2.literal(head, 0, ":authority", "a");
        // The keys "small" and "beside".
        String txn =
                "{\"success\":[{\"request_range\":{\"key\":\"c21hbGw=\"}},{\"request_put\":{\"key\":\"YmVzaWRl\"}}]}";
        try (RawHttp2 slow = new RawHttp2(fixture.gateway.apiPort(), PATIENCE)) {
            slow.frame(RawHttp2.SETTINGS, 0, 0, new byte[] {0, 4, 0, 0, 0, 0});
            for (int i = 0; i < calls; i++) {
                int stream = 2 * i + 1;
                slow.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS, stream, head.toByteArray());
                slow.frame(RawHttp2.DATA, RawHttp2.END_STREAM, stream, txn.getBytes(StandardCharsets.US_ASCII));
            }
            slow.flush();
            // A third more in base64.
            await().atMost(PATIENCE)
                    .until(() -> sum(fixture, "understudy_gateway_requests_held_bytes") * 3 >= calls * bytes * 4);
        }
        await().atMost(PATIENCE).until(() -> sum(fixture, "understudy_gateway_requests_held_bytes") == 0);
    }

    /** Neither API may take requests that a client's open request on the other one would keep waiting. */
    @Test
    void bothServersStopTakingRequestsAtOnce() throws Exception {
        try (GatewayFixture closed = closedAfterMinutes()) {
            ManagedChannel channel = GatewayFixture.channel("127.0.0.1", closed.gateway.apiPort());
            assertThat(MaintenanceGrpc.newBlockingStub(channel)
                            .status(StatusRequest.getDefaultInstance())
                            .hasHeader())
                    .isTrue();
            CompletableFuture<Void> ended = new CompletableFuture<>();
            // Its message is still to come. As a stream, since headers of other calls wait for it.
            var unused = open(
                    channel,
                    Bytes.method("etcdserverpb.KV/Put", MethodDescriptor.MethodType.BIDI_STREAMING),
                    null,
                    ended);
            await().atMost(PATIENCE).until(() -> sum(closed, "understudy_gateway_calls") > 0);

            CompletableFuture<Void> closing = CompletableFuture.runAsync(closed.gateway::close);

            await().atMost(PATIENCE).until(() -> !accepts(closed.gateway.restPort()));
            assertThat(ended).isNotDone();
            assertThat(closing).isNotDone();
            channel.shutdownNow();
            closing.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void callsWithoutATimeLimitEndAtOnceWhenTheGatewayCloses() throws Exception {
        long lease = lease();
        LockResponse held = LockGrpc.newBlockingStub(client).lock(lock(lease));
        try (GatewayFixture closed = closedAfterMinutes()) {
            List<CompletableFuture<Void>> ended =
                    List.of(new CompletableFuture<>(), new CompletableFuture<>(), new CompletableFuture<>());
            var keepAlive = open(
                    closed.channel(),
                    LeaseGrpc.getLeaseKeepAliveMethod(),
                    LeaseKeepAliveRequest.newBuilder().setID(lease).build(),
                    ended.get(0));
            var observe = open(
                    closed.channel(),
                    ElectionGrpc.getObserveMethod(),
                    LeaderRequest.newBuilder()
                            .setName(ByteString.copyFromUtf8("unused"))
                            .build(),
                    ended.get(1));
            var lock = open(closed.channel(), LockGrpc.getLockMethod(), lock(lease()), ended.get(2));
            observe.halfClose();
            lock.halfClose();
            await().atMost(PATIENCE).until(() -> sum(closed, "understudy_gateway_calls") >= 3);
            await().atMost(PATIENCE).until(() -> sum(closed, "understudy_gateway_forward_streams") == 2);

            closed.gateway.close();

            for (CompletableFuture<Void> end : ended) {
                assertThat(end)
                        .failsWithin(PATIENCE)
                        .withThrowableThat()
                        .withMessageContaining("UNAVAILABLE: etcdserver: server stopped");
            }
            keepAlive.cancel("over", null);
        }
        var unused = LockGrpc.newBlockingStub(client)
                .unlock(UnlockRequest.newBuilder().setKey(held.getKey()).build());
    }

    private static GatewayFixture closedAfterMinutes() throws Exception {
        GatewayFixture made = new GatewayFixture(Binder.with(
                GatewayFixture.settings(SOURCE.cluster()).with(ForwardSettings.DEFAULTS.with(Writes.FORWARD)),
                "closeTimeout",
                Duration.ofMinutes(2)));
        made.awaitReady();
        return made;
    }

    /** Starts a call, with a message if any. */
    private static <Q, A> ClientCall<Q, A> open(
            ManagedChannel channel, MethodDescriptor<Q, A> method, @Nullable Q message, CompletableFuture<Void> ended) {
        ClientCall<Q, A> call = channel.newCall(method, CallOptions.DEFAULT);
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        ended.completeExceptionally(status.asException());
                    }
                },
                new Metadata());
        call.request(2);
        if (message != null) {
            call.sendMessage(message);
        }
        return call;
    }

    private static boolean accepts(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    /** It ends the process of every version of etcd. */
    @Test
    void anAlarmRequestThatCrashesTheSourceIsNotForwarded() {
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> MaintenanceGrpc.newBlockingStub(client)
                        .alarm(AlarmRequest.newBuilder().setActionValue(9).build()))
                .withMessage("INVALID_ARGUMENT: understudy: unknown value 9 of AlarmRequest.action");
        assertThat(SOURCE.cluster().etcdctl("get", "alive")).isEmpty();
    }

    /** etcd 3.5 applies it on every member, which all end of it, and again whenever they are started. */
    @Test
    void aTransactionThatCrashesTheSourceIsNotForwarded() {
        ByteString key = ByteString.copyFromUtf8("unsortable");
        RequestOp range = RequestOp.newBuilder()
                .setRequestRange(RangeRequest.newBuilder().setKey(key).setSortTargetValue(7))
                .build();
        RequestOp nested = RequestOp.newBuilder()
                .setRequestTxn(TxnRequest.newBuilder().addFailure(range))
                .build();
        RequestOp put = RequestOp.newBuilder()
                .setRequestPut(PutRequest.newBuilder().setKey(key))
                .build();
        assertThatThrownBy(() -> fixture.kv()
                        .txn(TxnRequest.newBuilder()
                                .addSuccess(put)
                                .addFailure(nested)
                                .build()))
                .hasMessage("INVALID_ARGUMENT: etcdserver: invalid sort option");
        assertThat(SOURCE.cluster().etcdctl("get", "unsortable")).isEmpty();
    }

    @Test
    void leasesAreGrantedKeptAliveListedAndRevoked() {
        String lease = fixture.etcdctl("lease", "grant", "60").split(" ", -1)[1];
        assertThat(fixture.etcdctl("lease", "timetolive", lease)).contains("granted with TTL(60s)");
        assertThat(fixture.etcdctl("lease", "list")).contains(lease);
        assertThat(fixture.etcdctl("lease", "keep-alive", "--once", lease)).contains("keepalived with TTL(60)");
        assertThat(fixture.etcdctl("lease", "revoke", lease)).contains("revoked");
        assertThat(fixture.etcdctl("lease", "timetolive", lease)).contains("already expired");
    }

    @Test
    void locksAreHeldByOneAtATime() throws Exception {
        assertThat(fixture.etcdctl("lock", "free", "echo", "held")).isEqualTo("held\n");
        Process first = start("lock", "contended");
        assertThat(lines(first).readLine()).startsWith("contended/");
        Process second = start("lock", "contended", "echo", "mine");
        await().atMost(PATIENCE)
                .until(() -> SOURCE.cluster()
                                .etcdctl("get", "--prefix", "contended/", "--keys-only")
                                .lines()
                                .filter(line -> !line.isEmpty())
                                .count()
                        == 2);
        assertThat(second.isAlive()).isTrue();
        first.destroy();
        assertThat(lines(second).readLine()).isEqualTo("mine");
    }

    @Test
    void electionsAreWonAndObserved() throws Exception {
        Process candidate = start("elect", "play", "hamlet");
        BufferedReader won = lines(candidate);
        assertThat(won.readLine()).startsWith("play/");
        assertThat(won.readLine()).isEqualTo("hamlet");
        Process observer = start("elect", "-l", "play");
        BufferedReader seen = lines(observer);
        assertThat(seen.readLine()).startsWith("play/");
        assertThat(seen.readLine()).isEqualTo("hamlet");
        observer.destroy();
        candidate.destroy();
    }

    @Test
    void locksAndElectionsOfTheServerAreForwardedWithoutATimeout() throws Exception {
        long lease = lease();
        long other = lease();
        LockResponse held = LockGrpc.newBlockingStub(client).lock(lock(lease));
        Future<LockResponse> waiting = LockGrpc.newFutureStub(client).lock(lock(other));
        ByteString name = ByteString.copyFromUtf8("house");
        CampaignResponse won = ElectionGrpc.newBlockingStub(client)
                .campaign(CampaignRequest.newBuilder()
                        .setName(name)
                        .setLease(lease)
                        .setValue(ByteString.copyFromUtf8("one"))
                        .build());
        try (Context.CancellableContext observing = Context.current().withCancellation()) {
            Iterator<LeaderResponse> observed = observing.call(() -> ElectionGrpc.newBlockingStub(client)
                    .observe(LeaderRequest.newBuilder().setName(name).build()));
            assertThat(observed.next().getKv().getValue().toStringUtf8()).isEqualTo("one");
        }
        var unused = ElectionGrpc.newBlockingStub(client)
                .resign(ResignRequest.newBuilder().setLeader(won.getLeader()).build());
        assertThat(waiting.isDone()).isFalse();
        var unusedToo = LockGrpc.newBlockingStub(client)
                .unlock(UnlockRequest.newBuilder().setKey(held.getKey()).build());
        assertThat(waiting.get(30, TimeUnit.SECONDS).getKey()).isNotEqualTo(held.getKey());
        revoke(lease);
        revoke(other);
    }

    @Test
    void watchesSeeForwardedWrites() throws Exception {
        Process watch = start("watch", "watched");
        BufferedReader events = lines(watch);
        await().atMost(PATIENCE).until(() -> {
            String unused = fixture.etcdctl("put", "watched", "yes");
            return events.ready();
        });
        assertThat(List.of(events.readLine(), events.readLine(), events.readLine()))
                .containsExactly("PUT", "watched", "yes");
        watch.destroy();
    }

    @Test
    void aSavedSnapshotIsComplete() {
        Path file = folder.resolve("snapshot.db");
        fixture.etcdctl("put", "saved", "yes");
        assertThat(fixture.etcdctl("snapshot", "save", file.toString())).contains("Snapshot saved at " + file);
        String etcdutl = Objects.requireNonNull(EtcdBinaries.find().etcdutl()).toString();
        assertThat(Command.of(List.of(etcdutl, "snapshot", "status", file.toString()))
                        .run(PATIENCE))
                .matches("[0-9a-f]+, \\d+, \\d+, .*\\s*");
    }

    @Test
    void anUnreadSnapshotPausesAndEndsWhenItIsCancelled() {
        for (int i = 0; i < 16; i++) {
            var unused = KVGrpc.newBlockingStub(client)
                    .put(PutRequest.newBuilder()
                            .setKey(ByteString.copyFromUtf8("large/" + i))
                            .setValue(ByteString.copyFrom(new byte[1 << 20]))
                            .build());
        }
        AtomicInteger received = new AtomicInteger();
        ClientCall<SnapshotRequest, SnapshotResponse> snapshot =
                client.newCall(MaintenanceGrpc.getSnapshotMethod(), CallOptions.DEFAULT);
        snapshot.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onMessage(SnapshotResponse part) {
                        received.incrementAndGet();
                    }
                },
                new Metadata());
        snapshot.sendMessage(SnapshotRequest.getDefaultInstance());
        snapshot.halfClose();
        snapshot.request(1);
        await().atMost(PATIENCE).until(() -> received.get() == 1);
        // By the same connections, so that nothing but the snapshot is held up.
        assertThat(fixture.etcdctl("put", "meanwhile", "yes")).isEqualTo("OK\n");
        assertThat(openStreams()).isPositive();
        snapshot.cancel("enough", null);
        await().atMost(PATIENCE).until(() -> openStreams() == 0);
    }

    private static double openStreams() {
        return sum(fixture, "understudy_gateway_forward_streams");
    }

    private static double sum(GatewayFixture of, String metric) {
        return of.page("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith(metric + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    @Test
    void membersAreTheSources() {
        assertThat(fixture.etcdctl("member", "list", "-w=json").replaceAll("\"header\":\\{[^}]*}", ""))
                .isEqualTo(
                        SOURCE.cluster().etcdctl("member", "list", "-w=json").replaceAll("\"header\":\\{[^}]*}", ""));
    }

    @Test
    void statusReportsALearnerAndHealthTheCluster() {
        String version = GatewayFixture.VERSION + "+understudy";
        assertThat(fixture.etcdctl("endpoint", "status", "-w=json"))
                .contains("\"version\":\"" + version + "\"")
                .contains("\"isLearner\":true")
                .contains("\"leader\":")
                .contains("\"raftTerm\":");
        assertThat(fixture.etcdctl("endpoint", "status", "-w=table")).contains("IS LEARNER", version);
        assertThat(fixture.etcdctl("alarm", "list")).isEmpty();
    }

    @Test
    void errorsAreThoseOfTheSource() {
        assertSameRefusal(channel -> KVGrpc.newBlockingStub(channel).put(PutRequest.getDefaultInstance()));
        assertSameRefusal(channel -> KVGrpc.newBlockingStub(channel)
                .put(PutRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8("k"))
                        .setLease(0x404)
                        .build()));
        assertSameRefusal(channel -> LeaseGrpc.newBlockingStub(channel)
                .leaseRevoke(LeaseRevokeRequest.newBuilder().setID(0x404).build()));
    }

    @Test
    void requestsNearTheSizeLimitAreAnsweredAsByEtcd() {
        for (int beyond : new int[] {-100, -41, -30, -20, -10, -1, 0, 1, 100, 600 << 10}) {
            PutRequest put = PutRequest.newBuilder()
                    .setKey(ByteString.copyFromUtf8("large"))
                    .setValue(ByteString.copyFrom(new byte[(1536 << 10) + beyond]))
                    .build();
            assertThat(outcome(channel -> KVGrpc.newBlockingStub(channel).put(put), client))
                    .as("%d bytes beyond 1.5 MiB", beyond)
                    .isEqualTo(
                            outcome(channel -> KVGrpc.newBlockingStub(channel).put(put), direct));
        }
        var unused = KVGrpc.newBlockingStub(direct)
                .deleteRange(DeleteRangeRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8("large"))
                        .build());
    }

    @Test
    void nestedTransactionsAreForwardedUpToTheDecoderLimit() {
        assertThat(outcome(channel -> KVGrpc.newBlockingStub(channel).txn(nested(48)), client))
                .isEqualTo("OK");
        assertThat(outcome(channel -> KVGrpc.newBlockingStub(channel).txn(nested(60)), client))
                .startsWith("INTERNAL grpc: error unmarshalling request");
        // Of more, the client's own encoder can exceed its stack.
        assertThat(outcome(channel -> KVGrpc.newBlockingStub(channel).txn(nested(400)), client))
                .startsWith("INTERNAL grpc: error unmarshalling request");
    }

    private static TxnRequest nested(int depth) {
        TxnRequest txn = TxnRequest.newBuilder()
                .addSuccess(RequestOp.newBuilder()
                        .setRequestPut(PutRequest.newBuilder().setKey(ByteString.copyFromUtf8("deep"))))
                .build();
        for (int i = 1; i < depth; i++) {
            txn = TxnRequest.newBuilder()
                    .addSuccess(RequestOp.newBuilder().setRequestTxn(txn))
                    .build();
        }
        return txn;
    }

    /** "OK", or the error. */
    private static String outcome(Function<ManagedChannel, Object> call, ManagedChannel channel) {
        try {
            var unused = call.apply(channel);
            return "OK";
        } catch (StatusRuntimeException e) {
            return e.getStatus().getCode() + " " + e.getStatus().getDescription();
        }
    }

    @Test
    void leadershipCanBeMovedThroughTheGateway() {
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> MaintenanceGrpc.newBlockingStub(client)
                        .moveLeader(
                                MoveLeaderRequest.newBuilder().setTargetID(1).build()))
                .satisfies(refusal -> assertThat(refusal.getStatus().getDescription())
                        .isEqualTo("etcdserver: bad leader transferee"));
    }

    @Test
    void aReadAfterAForwardedWriteOfItsSessionIncludesIt() {
        KVGrpc.KVBlockingStub kv = KVGrpc.newBlockingStub(client);
        for (int i = 0; i < 100; i++) {
            long written = kv.put(PutRequest.newBuilder()
                            .setKey(ByteString.copyFromUtf8("own"))
                            .setValue(ByteString.copyFromUtf8("" + i))
                            .build())
                    .getHeader()
                    .getRevision();
            var read = kv.range(RangeRequest.newBuilder()
                    .setKey(ByteString.copyFromUtf8("own"))
                    .setSerializable(true)
                    .build());
            assertThat(read.getHeader().getRevision()).isGreaterThanOrEqualTo(written);
            assertThat(read.getKvs(0).getValue().toStringUtf8()).isEqualTo("" + i);
        }
    }

    private static LockRequest lock(long lease) {
        return LockRequest.newBuilder()
                .setName(ByteString.copyFromUtf8("stage"))
                .setLease(lease)
                .build();
    }

    private static long lease() {
        return LeaseGrpc.newBlockingStub(client)
                .leaseGrant(LeaseGrantRequest.newBuilder().setTTL(60).build())
                .getID();
    }

    private static void revoke(long lease) {
        var unused = LeaseGrpc.newBlockingStub(client)
                .leaseRevoke(LeaseRevokeRequest.newBuilder().setID(lease).build());
    }

    private static void assertSameRefusal(Function<ManagedChannel, Object> call) {
        Status expected = refusal(call, direct);
        Status actual = refusal(call, client);
        assertThat(actual.getCode()).isEqualTo(expected.getCode());
        assertThat(actual.getDescription()).isEqualTo(expected.getDescription());
    }

    private static Status refusal(Function<ManagedChannel, Object> call, ManagedChannel channel) {
        try {
            throw new AssertionError("not refused: " + call.apply(channel));
        } catch (StatusRuntimeException e) {
            return e.getStatus();
        }
    }

    private static Process start(String... arguments) throws Exception {
        List<String> line = new java.util.ArrayList<>(
                List.of(GatewayFixture.ETCDCTL.toString(), "--endpoints=127.0.0.1:" + fixture.gateway.apiPort()));
        line.addAll(List.of(arguments));
        return new ProcessBuilder(line)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private static BufferedReader lines(Process process) {
        return new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }
}
