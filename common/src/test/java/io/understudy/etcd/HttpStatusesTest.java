package io.understudy.etcd;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.understudy.etcd.Channels.NetworkThread;
import io.understudy.local.certificate.Certificates;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Against a server with scripted responses, right or wrong.
 *
 * <p>Tests invariant E7.
 */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
final class HttpStatusesTest {

    private static final Duration LONG = Duration.ofSeconds(30);
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n";

    private final NetworkThread network = NetworkThread.start("statuses");
    private final List<KeptConnections<Integer>> clients = new CopyOnWriteArrayList<>();
    private final KeptConnections<Integer> client = client(TlsContext.of(null));

    @AfterEach
    void close() {
        clients.forEach(KeptConnections::close);
        network.close();
    }

    @Test
    void returnsTheStatusAndRequestsNothingElse() throws Exception {
        try (Server server = new Server(OK)) {
            assertThat(get(server, LONG).join()).isEqualTo(200);
            assertThat(server.requests).containsExactly("GET /page HTTP/1.1|host: 127.0.0.1:" + server.port());
        }
    }

    @Test
    void aRefusalIsAStatusToo() throws Exception {
        try (Server server = new Server("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")) {
            assertThat(get(server, LONG).join()).isEqualTo(503);
        }
    }

    @Test
    void oneConnectionServesRequestAfterRequest() throws Exception {
        try (Server server = new Server(OK)) {
            for (int i = 0; i < 5; i++) {
                assertThat(get(server, LONG).join()).isEqualTo(200);
            }
            assertThat(server.connections).hasValue(1);
        }
    }

    @Test
    void aConnectionThatTheServerEndsIsNotKept() throws Exception {
        try (Server server = new Server("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok")) {
            server.closesAfterEach = true;
            assertThat(get(server, LONG).join()).isEqualTo(200);
            assertThat(get(server, LONG).join()).isEqualTo(200);
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void aKeptConnectionThatDiesWithARequestIsReplacedOnce() throws Exception {
        try (Server server = new Server(OK)) {
            assertThat(get(server, LONG).join()).isEqualTo(200);
            server.dropsNextRequest = true;
            assertThat(get(server, LONG).join()).isEqualTo(200);
            assertThat(server.requests).hasSize(3);
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void aNewConnectionThatDiesIsNotReplaced() throws Exception {
        try (Server server = new Server(OK)) {
            server.dropsNextRequest = true;
            assertFails(get(server, LONG), IOException.class);
            assertThat(server.requests).hasSize(1);
        }
    }

    @Test
    void silenceFailsByTheDeadlineAndItsConnectionIsNotUsedAgain() throws Exception {
        try (Server server = new Server("")) {
            assertFails(get(server, Duration.ofMillis(100)), TimeoutException.class);
            server.answer = OK;
            assertThat(get(server, LONG).join()).isEqualTo(200);
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void anAnswerWithoutEndIsCutOff() throws Exception {
        try (Server server = new Server("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"
                + "x".repeat(HttpStatuses.MAX_BODY_BYTES + 1))) {
            assertFails(get(server, LONG), IOException.class);
        }
    }

    @Test
    void whatIsNotHttpIsNoAnswer() throws Exception {
        try (Server server = new Server("I am a teapot\r\n\r\n")) {
            assertFails(get(server, LONG), IOException.class);
        }
    }

    @Test
    void moreThanOneAnswerIsNotTakenForThatToTheNextRequest() throws Exception {
        try (Server server = new Server(OK + "HTTP/1.1 418 Unasked\r\nContent-Length: 0\r\n\r\n")) {
            assertThat(get(server, LONG).join()).isEqualTo(200);
            server.answer = OK;
            await().atMost(LONG).until(() -> get(server, LONG).join() == 200 && server.connections.get() == 2);
        }
    }

    @Test
    void anInterimAnswerIsNoneAndWhatFollowsIsNotTakenForTheNext() throws Exception {
        for (int code : new int[] {100, 101, 103}) {
            try (Server server = new Server("HTTP/1.1 " + code + " Interim\r\n\r\n")) {
                assertFails(get(server, LONG), IOException.class);
                server.answer = OK;
                assertThat(get(server, LONG).join()).isEqualTo(200);
                assertThat(server.connections).hasValue(2);
            }
            try (Server server = new Server("HTTP/1.1 " + code + " Interim\r\n\r\n" + OK)) {
                assertFails(get(server, LONG), IOException.class);
            }
        }
    }

    @Test
    void aRequestWithoutAListenerFailsAtOnce() throws Exception {
        Endpoint closed;
        try (Server server = new Server(OK)) {
            closed = server.endpoint(false);
        }
        assertFails(get(client, closed, LONG), IOException.class);
    }

    @Test
    void eachAddressOfAHostIsTried() throws Exception {
        try (Server server = new Server(OK)) {
            Endpoint named = new Endpoint("etcd.invalid", server.port(), false);
            byte[] refusing = {127, 0, 0, 2};
            InetAddress[] addresses = {InetAddress.getByAddress(refusing), InetAddress.getLoopbackAddress()};
            KeptConnections<Integer> resolving = new KeptConnections<>(
                    network, new HttpStatuses(TlsContext.of(null)), Duration.ofSeconds(5), LONG, host -> addresses);
            clients.add(resolving);

            assertThat(get(resolving, named, LONG).join()).isEqualTo(200);
            assertFails(get(resolving, new Endpoint("etcd.invalid", 1, false), LONG), IOException.class);
        }
    }

    /** A firewall may have dropped it without a sign. */
    @Test
    void anIdleConnectionIsClosed() throws Exception {
        try (Server server = new Server(OK)) {
            KeptConnections<Integer> brief = new KeptConnections<>(
                    network,
                    new HttpStatuses(TlsContext.of(null)),
                    Duration.ofSeconds(5),
                    Duration.ofMillis(100),
                    InetAddress::getAllByName);
            clients.add(brief);

            assertThat(get(brief, server.endpoint(false), LONG).join()).isEqualTo(200);
            await().atMost(Duration.ofSeconds(10)).until(() -> server.disconnections.get() == 1);
            assertThat(get(brief, server.endpoint(false), LONG).join()).isEqualTo(200);
            assertThat(server.connections).hasValue(2);
        }
    }

    @Test
    void anUnfinishedPageIsAbandonedWithItsConnection() throws Exception {
        try (Server server = new Server("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")) {
            HttpPages pages = new HttpPages(TlsContext.of(null), LONG);

            assertThatThrownBy(pages.get(server.endpoint(false), "/metrics", Duration.ofMillis(500))::join)
                    .hasCauseInstanceOf(TimeoutException.class);
            await().atMost(Duration.ofSeconds(10)).until(() -> server.disconnections.get() == 1);
        }
    }

    @Test
    void overTlsBothSidesShowTheirCertificates(@TempDir Path folder) throws Exception {
        Certificates certificates = new Certificates(folder);
        Certificates.Pair theirs = certificates.make("server", "EC");
        Certificates.Pair ours = certificates.make("client", "EC");
        SSLContext context = ((JdkSslContext) SslContextBuilder.forServer(
                                theirs.certificate().toFile(), theirs.key().toFile())
                        .sslProvider(SslProvider.JDK)
                        .trustManager(ours.certificate().toFile())
                        .build())
                .context();
        try (Server server = new Server(OK, context)) {
            KeptConnections<Integer> trusted =
                    client(TlsContext.of(new TlsFiles(theirs.certificate(), ours.certificate(), ours.key())));
            assertThat(get(trusted, server.endpoint(true), LONG).join()).isEqualTo(200);
            assertThat(get(trusted, server.endpoint(true), LONG).join()).isEqualTo(200);
            assertThat(server.connections).hasValue(1);

            KeptConnections<Integer> distrusting =
                    client(TlsContext.of(new TlsFiles(ours.certificate(), ours.certificate(), ours.key())));
            assertFails(get(distrusting, server.endpoint(true), LONG), IOException.class);
        }
    }

    private KeptConnections<Integer> client(TlsContext tls) {
        KeptConnections<Integer> made = new KeptConnections<>(network, new HttpStatuses(tls), Duration.ofSeconds(5));
        clients.add(made);
        return made;
    }

    private CompletableFuture<Integer> get(Server server, Duration deadline) {
        return get(client, server.endpoint(false), deadline);
    }

    private CompletableFuture<Integer> get(KeptConnections<Integer> from, Endpoint endpoint, Duration deadline) {
        return CompletableFuture.completedFuture(endpoint)
                .thenComposeAsync(each -> from.call(each, "/page", deadline), network.loop());
    }

    private static void assertFails(CompletableFuture<Integer> status, Class<? extends Throwable> why) {
        assertThatThrownBy(status::join).cause().isInstanceOf(why);
    }

    private static final class Server implements AutoCloseable {
        private final ServerSocket socket;
        private final List<Socket> accepted = new CopyOnWriteArrayList<>();
        private final List<String> requests = new CopyOnWriteArrayList<>();
        private final AtomicInteger connections = new AtomicInteger();
        private final AtomicInteger disconnections = new AtomicInteger();
        private volatile String answer;
        private volatile boolean closesAfterEach;
        private volatile boolean dropsNextRequest;

        Server(String answer) throws IOException {
            this(answer, new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
        }

        Server(String answer, SSLContext tls) throws IOException {
            this(answer, tls.getServerSocketFactory().createServerSocket(0, 50, InetAddress.getLoopbackAddress()));
        }

        private Server(String answer, ServerSocket socket) {
            this.answer = answer;
            this.socket = socket;
            if (socket instanceof SSLServerSocket tls) {
                tls.setNeedClientAuth(true);
            }
            start(this::accept);
        }

        int port() {
            return socket.getLocalPort();
        }

        Endpoint endpoint(boolean tls) {
            return new Endpoint("127.0.0.1", port(), tls);
        }

        private void accept() {
            try {
                while (true) {
                    Socket connection = socket.accept();
                    accepted.add(connection);
                    connections.incrementAndGet();
                    start(() -> serve(connection));
                }
            } catch (IOException e) {
                // Closed.
            }
        }

        private void serve(Socket connection) {
            try (connection;
                    BufferedReader in =
                            new BufferedReader(new InputStreamReader(connection.getInputStream(), US_ASCII))) {
                StringBuilder request = new StringBuilder();
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    if (!line.isEmpty()) {
                        request.append(request.isEmpty() ? "" : "|").append(line);
                        continue;
                    }
                    requests.add(request.toString());
                    request.setLength(0);
                    if (dropsNextRequest) {
                        dropsNextRequest = false;
                        return;
                    }
                    connection.getOutputStream().write(answer.getBytes(US_ASCII));
                    connection.getOutputStream().flush();
                    if (closesAfterEach) {
                        return;
                    }
                }
            } catch (IOException e) {
                // The client is gone.
            }
            disconnections.incrementAndGet();
        }

        private static void start(Runnable work) {
            Thread thread = new Thread(work, "http-test-server");
            thread.setDaemon(true);
            thread.start();
        }

        @Override
        public void close() throws IOException {
            socket.close();
            for (Socket each : accepted) {
                each.close();
            }
        }
    }
}
