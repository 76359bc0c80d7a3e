package io.understudy.gateway.forward;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.PutResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.SnapshotRequest;
import io.etcd.jetcd.api.SnapshotResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Forwarded calls when members or clients fail during the call.
 *
 * <p>Tests invariants W1, W3.
 */
@Timeout(120)
final class ForwardingFaultIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(3).named("source").behindProxies();

    private ForwardingFront front;
    private ManagedChannel client;

    @BeforeEach
    void open() throws Exception {
        // Probed once only, so that the view of the members predates the fault.
        EtcdSettings settings = new EtcdSettings(
                "source",
                SOURCE.cluster().clientUrls(),
                EtcdSettings.of(URI.create("http://127.0.0.1:1")).discovery(),
                Duration.ofMinutes(1),
                Duration.ofSeconds(5),
                null,
                null);
        front = new ForwardingFront(settings, ForwardSettings.DEFAULTS.with(Writes.FORWARD));
        client = plain("127.0.0.1", front.port());
        await().atMost(PATIENCE).until(() -> front.source.view().leader().isPresent());
    }

    @AfterEach
    void close() {
        client.shutdownNow();
        front.close();
    }

    @Test
    void aWriteWithALostAnswerIsNotRetriedAndItsOutcomeIsUnknown() throws Exception {
        EtcdMember leader = SOURCE.cluster().leader();
        put("lost", "before");
        leader.clientProxy().delay(Duration.ofSeconds(1));
        ListenableFuture<PutResponse> answer =
                KVGrpc.newFutureStub(client).put(request("lost", ByteString.copyFromUtf8("after")));
        await().atMost(PATIENCE).until(() -> version("lost") == 2);
        leader.clientProxy().cut();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> answer.get(30, TimeUnit.SECONDS))
                .satisfies(e -> assertThat(Status.fromThrowable(e))
                        .extracting(Status::getCode, Status::getDescription)
                        .containsExactly(
                                Status.Code.UNAVAILABLE,
                                "etcdserver: request timed out, possibly due to connection lost"));
        // A retry would precede this write, which goes to another member.
        leader.clientProxy().heal();
        put("afterwards", "x");
        assertThat(version("lost")).isEqualTo(2);
    }

    /** After the primary has moved, clients must not learn further revisions of the former one. */
    @Test
    void anAnswerBeyondTheLastRevisionIsNotPassedOn() {
        put("beyond", "before");
        front.last = front.session.lastRevision();
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> put("beyond", "after"))
                .withMessageContaining("etcdserver: request timed out, possibly due to connection lost");
        assertThat(front.session.lastRevision()).isEqualTo(front.last);
        front.last = Long.MAX_VALUE;
        assertThat(version("beyond")).isEqualTo(2);
    }

    @Test
    void anUnsentWriteGoesToAnotherMember() {
        EtcdMember gone = SOURCE.cluster().leader();
        put("elsewhere", "before");
        SOURCE.cluster().moveLeader(SOURCE.cluster().followers().get(0));
        gone.clientProxy().cut();
        ManagedChannel toGone = (ManagedChannel) front.source.channel(Endpoint.of(gone.clientUrl()));
        await().atMost(PATIENCE).until(() -> toGone.getState(false) != ConnectivityState.READY);
        put("elsewhere", "after");
        assertThat(version("elsewhere")).isEqualTo(2);
    }

    /** A follower that has not missed its leader yet would lose them, and etcd would report that after 7 s. */
    @Test
    void writesAfterTheLossOfALeaderReachTheNextOne() throws Exception {
        put("next", "before");
        EtcdMember leader = SOURCE.cluster().leader();
        ManagedChannel toLeader = (ManagedChannel) front.source.channel(Endpoint.of(leader.clientUrl()));
        leader.kill();
        await().atMost(PATIENCE).until(() -> toLeader.getState(false) != ConnectivityState.READY);
        List<ListenableFuture<PutResponse>> answers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            answers.add(KVGrpc.newFutureStub(client).put(request("next", ByteString.copyFromUtf8("after"))));
        }
        for (ListenableFuture<PutResponse> answer : answers) {
            assertThat(answer.get(30, TimeUnit.SECONDS).getHeader().getRevision())
                    .isPositive();
        }
        assertThat(version("next")).isEqualTo(11);
    }

    @Test
    void anUnsentWriteIsHeldUnlessItRequiresALeader() throws Exception {
        put("nobody", "before");
        SOURCE.cluster().voters().forEach(voter -> voter.clientProxy().cut());
        Metadata requiresLeader = new Metadata();
        requiresLeader.put(Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER), "true");
        KVGrpc.KVBlockingStub strict = KVGrpc.newBlockingStub(client)
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(requiresLeader));
        // A lost connection may be detected late.
        await().atMost(PATIENCE).untilAsserted(() -> assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> strict.put(request("nobody", ByteString.copyFromUtf8("strict"))))
                .satisfies(refusal ->
                        assertThat(refusal.getStatus().getDescription()).isEqualTo("etcdserver: no leader")));
        double before = front.elsewhere();
        ListenableFuture<PutResponse> held =
                KVGrpc.newFutureStub(client).put(request("nobody", ByteString.copyFromUtf8("after")));
        // It has tried each member more than once.
        await().atMost(PATIENCE).until(() -> front.elsewhere() > before + 6);
        assertThat(held.isDone()).isFalse();
        SOURCE.heal();
        assertThat(held.get(30, TimeUnit.SECONDS).getHeader().getRevision()).isPositive();
        assertThat(version("nobody")).isEqualTo(2);
    }

    @Test
    void anExpiredDeadlineIsReported() {
        put("late", "before");
        SOURCE.cluster().leader().clientProxy().blackHole();
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> KVGrpc.newBlockingStub(client)
                        .withDeadlineAfter(500, TimeUnit.MILLISECONDS)
                        .put(request("late", ByteString.copyFromUtf8("after"))))
                .satisfies(late -> assertThat(late.getStatus().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED));
    }

    @Test
    void keepAlivesContinueThroughALeaderChange() throws Exception {
        long lease = LeaseGrpc.newBlockingStub(client)
                .leaseGrant(LeaseGrantRequest.newBuilder().setTTL(60).build())
                .getID();
        KeepAlives keepAlives = new KeepAlives();
        StreamObserver<LeaseKeepAliveRequest> requests =
                LeaseGrpc.newStub(client).leaseKeepAlive(keepAlives);
        LeaseKeepAliveRequest request =
                LeaseKeepAliveRequest.newBuilder().setID(lease).build();
        requests.onNext(request);
        await().atMost(PATIENCE).until(() -> keepAlives.answers.size() == 1);
        SOURCE.cluster().moveLeader(SOURCE.cluster().followers().get(0));
        requests.onNext(request);
        await().atMost(PATIENCE).until(() -> keepAlives.answers.size() == 2);
        assertThat(keepAlives.answers).allMatch(answer -> answer.getTTL() == 60);
        requests.onCompleted();
        keepAlives.end.get(30, TimeUnit.SECONDS);
        assertThat(front.metrics.streams()).isZero();
    }

    @Test
    void keepAlivesEndWithTheirMemberAndResumeAtAnother() throws Exception {
        long lease = LeaseGrpc.newBlockingStub(client)
                .leaseGrant(LeaseGrantRequest.newBuilder().setTTL(60).build())
                .getID();
        LeaseKeepAliveRequest request =
                LeaseKeepAliveRequest.newBuilder().setID(lease).build();
        KeepAlives first = new KeepAlives();
        LeaseGrpc.newStub(client).leaseKeepAlive(first).onNext(request);
        await().atMost(PATIENCE).until(() -> first.answers.size() == 1);
        SOURCE.cluster().leader().kill();
        assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> first.end.get(30, TimeUnit.SECONDS));
        await().atMost(PATIENCE).until(() -> {
            KeepAlives again = new KeepAlives();
            LeaseGrpc.newStub(client).leaseKeepAlive(again).onNext(request);
            await().atMost(PATIENCE).until(() -> !again.answers.isEmpty() || again.end.isDone());
            return !again.answers.isEmpty();
        });
    }

    /** The keepalive of an idle connection would end them after 13 s, with a text of gRPC. */
    @Test
    void streamsEndOnceTheirMemberDoesNotRespondToProbes() throws Exception {
        EtcdSettings probing = EtcdSettings.of(SOURCE.cluster().clientUrls().toArray(new URI[0]));
        try (ForwardingFront probed = new ForwardingFront(probing, ForwardSettings.DEFAULTS.with(Writes.FORWARD))) {
            ManagedChannel toProbed = plain("127.0.0.1", probed.port());
            try {
                await().atMost(PATIENCE)
                        .until(() -> probed.source.view().leader().isPresent());
                long lease = LeaseGrpc.newBlockingStub(toProbed)
                        .leaseGrant(LeaseGrantRequest.newBuilder().setTTL(60).build())
                        .getID();
                KeepAlives keepAlives = new KeepAlives();
                LeaseGrpc.newStub(toProbed)
                        .leaseKeepAlive(keepAlives)
                        .onNext(LeaseKeepAliveRequest.newBuilder().setID(lease).build());
                await().atMost(PATIENCE).until(() -> keepAlives.answers.size() == 1);
                SOURCE.cluster().leader().clientProxy().blackHole();
                assertThatExceptionOfType(ExecutionException.class)
                        .isThrownBy(() -> keepAlives.end.get(30, TimeUnit.SECONDS))
                        .satisfies(e -> assertThat(Status.fromThrowable(e))
                                .returns(Status.Code.UNAVAILABLE, Status::getCode)
                                .returns(
                                        "etcdserver: request timed out, possibly due to connection lost",
                                        Status::getDescription));
            } finally {
                toProbed.shutdownNow();
            }
        }
    }

    @Test
    void anUnreadSnapshotBlocksNoOtherCallAndEndsWhenCanceled() throws Exception {
        for (int i = 0; i < 24; i++) {
            put("large/" + i, ByteString.copyFrom(new byte[1 << 20]));
        }
        long before = bytesFromSource();
        AtomicLong received = new AtomicLong();
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
        assertThat(front.metrics.streams()).isEqualTo(1);
        for (int i = 0; i < 20; i++) {
            put("meanwhile", "" + i);
        }
        assertThat(bytesFromSource() - before).isLessThan(12 << 20);
        snapshot.cancel("enough", null);
        await().atMost(PATIENCE).until(() -> front.metrics.streams() == 0);
        await().atMost(PATIENCE)
                .until(() -> SOURCE.cluster().members().stream().anyMatch(ForwardingFaultIT::hasEndedSnapshots));
    }

    private void put(String key, String value) {
        put(key, ByteString.copyFromUtf8(value));
    }

    private void put(String key, ByteString value) {
        PutResponse answer = KVGrpc.newBlockingStub(client)
                .withDeadlineAfter(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                .put(request(key, value));
        assertThat(front.session.lastRevision())
                .isGreaterThanOrEqualTo(answer.getHeader().getRevision());
    }

    private static PutRequest request(String key, ByteString value) {
        return PutRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8(key))
                .setValue(value)
                .build();
    }

    /** Returns the version of the key, read from the source directly. */
    private static long version(String key) {
        EtcdMember leader = SOURCE.cluster().leader();
        ManagedChannel direct = plain(
                leader.directClientUrl().getHost(), leader.directClientUrl().getPort());
        try {
            return KVGrpc.newBlockingStub(direct)
                    .withDeadlineAfter(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                    .range(RangeRequest.newBuilder()
                            .setKey(ByteString.copyFromUtf8(key))
                            .build())
                    .getKvs(0)
                    .getVersion();
        } finally {
            direct.shutdownNow();
        }
    }

    private static long bytesFromSource() {
        return SOURCE.cluster().members().stream()
                .mapToLong(member -> member.clientProxy().bytesFromTarget())
                .sum();
    }

    private static boolean hasEndedSnapshots(EtcdMember member) {
        HttpRequest metrics = HttpRequest.newBuilder(member.directClientUrl().resolve("/metrics"))
                .build();
        try {
            return HttpClient.newHttpClient()
                    .send(metrics, HttpResponse.BodyHandlers.ofLines())
                    .body()
                    .anyMatch(line -> line.startsWith("grpc_server_handled_total{")
                            && line.contains("grpc_method=\"Snapshot\"")
                            && !line.contains("grpc_code=\"OK\"")
                            && !line.endsWith(" 0"));
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static ManagedChannel plain(String host, int port) {
        return NettyChannelBuilder.forAddress(host, port)
                .usePlaintext()
                .disableRetry()
                .build();
    }

    /** Responses of a keep-alive stream. */
    private static final class KeepAlives implements StreamObserver<LeaseKeepAliveResponse> {

        final Queue<LeaseKeepAliveResponse> answers = new ConcurrentLinkedQueue<>();
        final CompletableFuture<Boolean> end = new CompletableFuture<>();

        @Override
        public void onNext(LeaseKeepAliveResponse answer) {
            answers.add(answer);
        }

        @Override
        public void onError(Throwable failure) {
            end.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            end.complete(true);
        }
    }
}
