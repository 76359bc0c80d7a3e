package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Principal;
import io.understudy.local.certificate.Certificates;
import io.understudy.tls.ClientCertificates;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import io.understudy.tls.TlsServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The port of the API behind TLS.
 *
 * <p>Tests invariant T1.
 */
@Timeout(60)
final class TlsPortTest {

    private static final int LARGE = 10 << 20;

    /** A client hello of TLS 1.1, by RFC 4346: one suite, no extensions. */
    private static final byte[] HELLO_1_1 =
            HexFormat.of().parseHex("160302002d" + "01000029" + "0302" + "00".repeat(32) + "00" + "0002c013" + "0100");

    private static final int ALERT = 21;
    private static final int FATAL = 2;
    private static final int PROTOCOL_VERSION = 70;

    @TempDir
    static Path folder;

    private static Certificates.Pair gateway;
    private static Certificates.Pair guest;
    /** A guest of another authority. */
    private static Certificates.Pair impostor;

    private TlsServer tls;
    private CalledServer server;

    @BeforeAll
    static void make() throws Exception {
        Certificates certificates = new Certificates(folder);
        gateway = certificates.make("gateway", "EC");
        guest = certificates.make("guest", "EC");
        impostor = new Certificates(Files.createDirectory(folder.resolve("elsewhere"))).make("guest", "EC");
    }

    @AfterEach
    void stop() throws InterruptedException {
        server.close();
        tls.close();
    }

    @ParameterizedTest
    @EnumSource(HttpClient.Version.class)
    void thePortServesTheNegotiatedProtocol(HttpClient.Version version) throws Exception {
        start(ClientCertificates.NONE);

        HttpResponse<String> answer = page(version, null);

        assertThat(answer.version()).isEqualTo(version);
        assertThat(answer.body()).isEqualTo("/who 1\n");
        assertThat(server.principals).containsExactly(Principal.ANONYMOUS);
    }

    @Test
    void callersHaveTheCommonNameOfTheirCertificate() throws Exception {
        start(ClientCertificates.OPTIONAL);

        assertThat(call(guest)).isEmpty();
        assertThat(call(null)).isEmpty();

        assertThat(server.callers)
                .extracting(Caller::principal)
                .containsExactly(new Principal.Certificate("guest"), Principal.ANONYMOUS);
    }

    @ParameterizedTest
    @EnumSource(value = ClientCertificates.class, names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void anUnverifiedCertificateIsRejected(ClientCertificates clients) throws Exception {
        start(clients);

        assertThatThrownBy(() -> page(HttpClient.Version.HTTP_1_1, impostor)).isInstanceOf(IOException.class);
        assertThat(server.principals).isEmpty();
    }

    @Test
    void requiredCertificatesRejectConnectionsWithoutOne() throws Exception {
        start(ClientCertificates.REQUIRED);

        assertThatThrownBy(() -> page(HttpClient.Version.HTTP_1_1, null)).isInstanceOf(IOException.class);
        assertThat(server.principals).isEmpty();

        assertThat(page(HttpClient.Version.HTTP_2, guest).statusCode()).isEqualTo(200);
    }

    @Test
    void longAnswersAreComplete() throws Exception {
        start(ClientCertificates.REQUIRED);
        server.answer = server.zeros(LARGE);

        assertThat(call(guest)).hasSize(LARGE);
    }

    @Test
    void plainTextIsNotAnswered() throws Exception {
        start(ClientCertificates.NONE);
        try (Socket socket = connect()) {
            socket.getOutputStream().write("GET /who HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));

            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
                    .doesNotContain("HTTP");
        }
        assertThat(server.principals).isEmpty();
    }

    /** The client sends on, so that a reset would lose the answer. */
    @Test
    void anAnswerToARequestThatIsStillSentArrives() throws Exception {
        start(ClientCertificates.NONE);
        try (TlsContext context = context(null);
                Socket socket = context.platform()
                        .getSocketFactory()
                        .createSocket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(30_000);
            socket.getOutputStream()
                    .write("POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 100000000\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            byte[] part = new byte[1 << 20];
            for (int i = 0; i < 9; i++) {
                socket.getOutputStream().write(part);
            }
            assertThat(new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                            .readLine())
                    .isEqualTo("HTTP/1.1 413 Request Entity Too Large");
        }
        assertThat(server.pages).hasValue(0);
    }

    @Test
    void versionsBeforeTls12AreRejected() throws Exception {
        start(ClientCertificates.NONE);
        try (Socket socket = connect()) {
            socket.getOutputStream().write(HELLO_1_1);

            byte[] answer = socket.getInputStream().readAllBytes();
            assertThat(answer[0]).isEqualTo((byte) ALERT);
            assertThat(answer).endsWith(FATAL, PROTOCOL_VERSION);
        }
    }

    @Test
    void anUnfinishedHandshakeTimesOut() throws Exception {
        start(ClientCertificates.NONE);
        try (Socket socket = connect()) {
            socket.getOutputStream().write(HELLO_1_1, 0, 20);

            assertThat(socket.getInputStream().readAllBytes()).hasSizeLessThan(20);
        }
    }

    private void start(ClientCertificates clients) {
        tls = TlsServer.of(
                new TlsFiles(
                        clients == ClientCertificates.NONE ? null : guest.certificate(),
                        gateway.certificate(),
                        gateway.key()),
                clients,
                new SimpleMeterRegistry());
        server = new CalledServer(tls);
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
        socket.setSoTimeout(30_000);
        return socket;
    }

    private static TlsContext context(Certificates.Pair own) {
        return TlsContext.of(
                own == null
                        ? new TlsFiles(gateway.certificate(), null, null)
                        : new TlsFiles(gateway.certificate(), own.certificate(), own.key()));
    }

    private byte[] call(Certificates.Pair own) {
        try (TlsContext context = context(own)) {
            ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", server.port())
                    .sslContext(context.forGrpc())
                    .maxInboundMessageSize(Integer.MAX_VALUE)
                    .build();
            try {
                return ClientCalls.blockingUnaryCall(channel, CalledServer.UNARY, CallOptions.DEFAULT, new byte[0]);
            } finally {
                channel.shutdownNow();
            }
        }
    }

    private HttpResponse<String> page(HttpClient.Version version, Certificates.Pair own)
            throws IOException, InterruptedException {
        try (TlsContext context = context(own)) {
            HttpClient client =
                    context.applyTo(HttpClient.newBuilder().version(version)).build();
            return client.send(
                    HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + server.port() + "/who"))
                            .timeout(Duration.ofSeconds(30))
                            .build(),
                    BodyHandlers.ofString());
        }
    }
}
