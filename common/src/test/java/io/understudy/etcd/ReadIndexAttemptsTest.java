package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.ResponseHeader;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.understudy.etcd.Channels.NetworkThread;
import io.understudy.tls.TlsContext;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which responses are accepted, from a server that answers at revision 9 of cluster 7. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
final class ReadIndexAttemptsTest {

    private static final ClusterId CLUSTER = new ClusterId(7);
    private static final ClusterId ANOTHER = new ClusterId(8);
    private static final Duration DEADLINE = Duration.ofSeconds(30);

    private final NetworkThread network = NetworkThread.start("attempts");
    private final TlsContext tls = TlsContext.of(null);
    private final Channels channels = new Channels(network, Duration.ofSeconds(5), tls);
    private final KeptConnections<Integer> pages =
            new KeptConnections<>(network, new HttpStatuses(tls), Duration.ofSeconds(5));
    private final KeptConnections<byte[]> ranges = new KeptConnections<>(
            network, new UnaryCalls(tls, KVGrpc.getRangeMethod().getFullMethodName()), Duration.ofSeconds(5));
    /** Connections of the requests for linearizable reads. */
    private final BlockingQueue<SocketAddress> requested = new LinkedBlockingQueue<>();

    private Server server;
    private volatile @Nullable ClusterId meant;
    private volatile Runnable beforeItAnswers = () -> {};

    @BeforeEach
    void serve() throws Exception {
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .addService(new KVGrpc.KVImplBase() {
                    @Override
                    public void range(RangeRequest request, StreamObserver<RangeResponse> answer) {
                        if (!request.getSerializable()) {
                            beforeItAnswers.run();
                        }
                        answer.onNext(RangeResponse.newBuilder()
                                .setHeader(ResponseHeader.newBuilder()
                                        .setClusterId(CLUSTER.value())
                                        .setRevision(9))
                                .build());
                        answer.onCompleted();
                    }
                })
                .intercept(new ServerInterceptor() {
                    @Override
                    public <Q, A> ServerCall.Listener<Q> interceptCall(
                            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                        return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {
                            @Override
                            public void onMessage(Q message) {
                                if (message instanceof RangeRequest request && !request.getSerializable()) {
                                    requested.add(call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
                                }
                                super.onMessage(message);
                            }
                        };
                    }
                })
                .build()
                .start();
    }

    @AfterEach
    void close() {
        pages.close();
        ranges.close();
        channels.close();
        network.close();
        server.shutdownNow();
    }

    @Test
    void theClusterThatIsMeantConfirms() {
        meant = CLUSTER;
        assertThat(attempt().join().revision()).isEqualTo(new Revision(9));
    }

    @Test
    void anotherClusterConfirmsNothing() {
        meant = ANOTHER;
        assertThatThrownBy(attempt()::join)
                .cause()
                .isInstanceOf(ReadIndexAttempts.ReadIndexRefusedException.class)
                .hasMessageContaining("reached cluster");
    }

    @Test
    void noAttemptConfirmsBeforeTheClusterIsKnown() {
        assertThatThrownBy(attempt()::join).cause().isInstanceOf(ReadIndexAttempts.UnidentifiedException.class);
    }

    @Test
    void whatCountsIsWhatIsKnownWhenTheAnswerComes() {
        beforeItAnswers = () -> meant = ANOTHER;
        assertThatThrownBy(attempt()::join).cause().isInstanceOf(ReadIndexAttempts.ReadIndexRefusedException.class);
        meant = null;
        beforeItAnswers = () -> meant = CLUSTER;
        assertThat(attempt().join().revision()).isEqualTo(new Revision(9));
    }

    /** No attempt waits for a connection. */
    @Test
    void anAttemptUsesAConnectionOfItsOwnWhereOneIsFree() throws Exception {
        meant = CLUSTER;
        ReadIndexAttempts attempts = attempts(ranges);
        assertThat(onThread(() -> attempts.at(endpoint(), DEADLINE, true)).join())
                .isNotNull();
        SocketAddress shared = requested.take();
        while (!onThread(() -> CompletableFuture.completedFuture(ranges.isFree(endpoint())))
                .join()) {
            Thread.onSpinWait();
        }
        CompletableFuture<Void> answers = new CompletableFuture<>();
        beforeItAnswers = answers::join;
        CompletableFuture<ReadIndex> first = onThread(() -> attempts.at(endpoint(), DEADLINE, true));
        assertThat(requested.take()).isNotEqualTo(shared);
        CompletableFuture<ReadIndex> second = onThread(() -> attempts.at(endpoint(), DEADLINE, true));
        assertThat(requested.take()).isEqualTo(shared);
        answers.complete(null);
        assertThat(first.join().revision()).isEqualTo(second.join().revision());
    }

    @Test
    void anAttemptDoesNotFailWithItsOwnConnection() throws Exception {
        meant = CLUSTER;
        try (ScriptedServer direct = new ScriptedServer()) {
            Endpoint other = new Endpoint("127.0.0.1", direct.port(), false);
            ReadIndexAttempts attempts = new ReadIndexAttempts(
                    any -> channels.get(endpoint()), pages, ranges, KeyRange.all(), false, this::view);
            assertThat(onThread(() -> attempts.at(other, DEADLINE, true)).join())
                    .isNotNull();
            awaitFree(other);
            direct.closesAtNextCall = true;
            assertThat(onThread(() -> attempts.at(other, DEADLINE, true)).join().revision())
                    .isEqualTo(new Revision(9));
            assertThat(direct.closesAtNextCall).isFalse();
        }
    }

    private void awaitFree(Endpoint endpoint) {
        while (!onThread(() -> CompletableFuture.completedFuture(ranges.isFree(endpoint)))
                .join()) {
            Thread.onSpinWait();
        }
    }

    private <T> CompletableFuture<T> onThread(Supplier<CompletableFuture<T>> work) {
        return CompletableFuture.completedFuture(work).thenComposeAsync(Supplier::get, network.loop());
    }

    private CompletableFuture<ReadIndex> attempt() {
        return attempts(null).at(endpoint(), DEADLINE, true);
    }

    private ReadIndexAttempts attempts(@Nullable KeptConnections<byte[]> direct) {
        return new ReadIndexAttempts(channels::get, pages, direct, KeyRange.all(), false, this::view);
    }

    private Endpoint endpoint() {
        return new Endpoint("127.0.0.1", server.getPort(), false);
    }

    private ClusterView view() {
        return new ClusterView(meant, List.of(), null, List.of(), List.of(), List.of(), null);
    }
}
