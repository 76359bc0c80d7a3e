package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.understudy.etcd.Channels.NetworkThread;
import io.understudy.local.certificate.Certificates;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Connections to a server that shows its certificate and requests ours.
 *
 * <p>Tests invariants E9, T4.
 */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
final class TlsConnectionTest {

    @TempDir
    static Path folder;

    private static Certificates.Pair theirs;
    private static Certificates.Pair ours;
    private static Server server;
    private static Endpoint endpoint;

    @BeforeAll
    static void serve() throws Exception {
        Certificates certificates = new Certificates(folder);
        theirs = certificates.make("server", "EC");
        ours = certificates.make("client", "EC");
        server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .sslContext(GrpcSslContexts.forServer(
                                theirs.certificate().toFile(), theirs.key().toFile())
                        .trustManager(ours.certificate().toFile())
                        .clientAuth(ClientAuth.REQUIRE)
                        .build())
                .addService(new KVGrpc.KVImplBase() {
                    @Override
                    public void range(RangeRequest request, StreamObserver<RangeResponse> answer) {
                        answer.onNext(RangeResponse.newBuilder().setCount(42).build());
                        answer.onCompleted();
                    }
                })
                .build()
                .start();
        endpoint = new Endpoint("127.0.0.1", server.getPort(), true);
    }

    @AfterAll
    static void stop() {
        server.shutdownNow();
    }

    @Test
    void bothSidesTrustEachOther() {
        TlsFiles files = new TlsFiles(theirs.certificate(), ours.certificate(), ours.key());

        assertThat(range(files, endpoint).getCount()).isEqualTo(42);
        assertThat(direct(files, endpoint).getCount()).isEqualTo(42);
    }

    @Test
    void aServerThatIsNotTrustedIsNotTalkedTo() {
        assertUnavailable(
                new TlsFiles(ours.certificate(), ours.certificate(), ours.key()),
                "server certificate is not trusted: issuer not found in tls.trusted \\(default: system trust store\\)");
    }

    @Test
    void withoutACertificateOfOursTheServerDoesNotTalkToUs() {
        assertUnavailable(
                new TlsFiles(theirs.certificate(), null, null),
                "server rejected the client certificate or requires one: .*certificate.*");
    }

    @Test
    void aPlaintextServerIsReportedAsSuch() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread serving = new Thread(() -> {
                try {
                    while (true) {
                        try (Socket accepted = socket.accept()) {
                            // With bytes unread it would be reset.
                            int unused = accepted.getInputStream().read(new byte[4 << 10]);
                        }
                    }
                } catch (IOException e) {
                    // The test has seen enough.
                }
            });
            serving.start();
            Endpoint plain = new Endpoint("127.0.0.1", socket.getLocalPort(), true);

            assertThatThrownBy(() -> range(new TlsFiles(theirs.certificate(), null, null), plain))
                    .satisfies(failure -> assertThat(EtcdErrors.text(failure))
                            .isEqualTo("server does not support TLS or closed the connection during the handshake"));
        }
    }

    @Test
    void aPortWithoutAListenerIsReportedAsRefused() throws Exception {
        Endpoint closed;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            closed = new Endpoint("127.0.0.1", socket.getLocalPort(), true);
        }

        assertThatThrownBy(() -> range(new TlsFiles(theirs.certificate(), null, null), closed))
                .satisfies(failure -> assertThat(EtcdErrors.text(failure)).isEqualTo("connection refused"));
    }

    @Test
    void aServerWithoutHttp2GetsNoDirectCall() throws Exception {
        SslContext withoutAlpn = SslContextBuilder.forServer(
                        theirs.certificate().toFile(), theirs.key().toFile())
                .build();
        try (SSLServerSocket socket = (SSLServerSocket) ((JdkSslContext) withoutAlpn)
                .context()
                .getServerSocketFactory()
                .createServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Thread serving = new Thread(() -> {
                try (SSLSocket accepted = (SSLSocket) socket.accept()) {
                    accepted.startHandshake();
                    int unused = accepted.getInputStream().read();
                } catch (IOException e) {
                    // The client has seen enough.
                }
            });
            serving.start();
            assertThatThrownBy(() -> direct(
                            new TlsFiles(theirs.certificate(), null, null),
                            new Endpoint("127.0.0.1", socket.getLocalPort(), true)))
                    .hasMessageContaining("does not support HTTP/2");
            serving.join();
        }
    }

    private static void assertUnavailable(TlsFiles files, String why) {
        for (ThrowingCallable call :
                List.<ThrowingCallable>of(() -> range(files, endpoint), () -> direct(files, endpoint))) {
            assertThatThrownBy(call).isInstanceOfSatisfying(StatusRuntimeException.class, failure -> {
                assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
                assertThat(EtcdErrors.text(failure)).matches(why);
                assertThat(EtcdErrors.classify(Duty.WRITE, failure)).asString().matches("UNAVAILABLE: " + why);
            });
        }
    }

    private static RangeResponse direct(TlsFiles files, Endpoint endpoint) {
        try (TlsContext tls = TlsContext.of(files);
                DirectCalls<RangeRequest, RangeResponse> calls = new DirectCalls<>(tls, KVGrpc.getRangeMethod())) {
            RangeResponse first = calls.call(endpoint, RangeRequest.getDefaultInstance(), Duration.ofSeconds(30));
            assertThat(calls.call(endpoint, RangeRequest.getDefaultInstance(), Duration.ofSeconds(30)))
                    .isEqualTo(first);
            return first;
        }
    }

    private static RangeResponse range(TlsFiles files, Endpoint server) {
        try (NetworkThread network = NetworkThread.start("tls");
                Channels channels = new Channels(network, Duration.ofSeconds(5), TlsContext.of(files))) {
            return KVGrpc.newBlockingStub(channels.get(server))
                    .withDeadlineAfter(30, TimeUnit.SECONDS)
                    .range(RangeRequest.getDefaultInstance());
        }
    }
}
