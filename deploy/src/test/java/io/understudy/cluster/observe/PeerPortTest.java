package io.understudy.cluster.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What counts as an answer at a peer URL. */
@Timeout(60)
final class PeerPortTest {

    private static final Duration DEADLINE = Duration.ofSeconds(5);

    private ServerSocket server;
    private URI url;
    private EtcdConnections connections;

    @BeforeEach
    void open() throws IOException {
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        url = URI.create("http://127.0.0.1:" + server.getLocalPort());
        connections = EtcdConnections.open(EtcdSettings.of(url));
    }

    @AfterEach
    void close() throws IOException {
        server.close();
        connections.close();
    }

    @Test
    void aServerThatResetsConnectionsResponds() throws Exception {
        Thread resetting = new Thread(this::resetAll, "resetting");
        resetting.setDaemon(true);
        resetting.start();

        for (int i = 0; i < 300; i++) {
            assertThat(answers()).as("knock %s", i).isTrue();
        }
    }

    @Test
    void aPortThatRefusesConnectionsDoesNotRespond() throws Exception {
        server.close();

        assertThat(answers()).isFalse();
    }

    /** The port of a member that is to be added is not served yet. */
    @Test
    void aHostIsReachableWhetherOrNotAServerRuns() throws Exception {
        assertThat(unreachable(url)).isEmpty();
        server.close();
        assertThat(unreachable(url)).isEmpty();
    }

    @Test
    void aHostThatDoesNotExistIsFoundByTheDeadline() throws Exception {
        assertThat(unreachable(URI.create("http://nowhere.invalid:2380"))).hasValue("unknown host nowhere.invalid");
        List<Socket> waiting = new ArrayList<>();
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            // Linux drops what a full queue cannot take.
            assertThatThrownBy(() -> {
                        while (true) {
                            Socket socket = new Socket();
                            waiting.add(socket);
                            socket.connect(full.getLocalSocketAddress(), 200);
                        }
                    })
                    .isInstanceOf(SocketTimeoutException.class);
            assertThat(PeerPort.unreachable(
                                    URI.create("http://127.0.0.1:" + full.getLocalPort()), Duration.ofSeconds(1))
                            .get(DEADLINE.toSeconds(), TimeUnit.SECONDS))
                    .hasValue("no response within 1 s");
        } finally {
            for (Socket socket : waiting) {
                socket.close();
            }
        }
    }

    private static Optional<String> unreachable(URI peerUrl) throws Exception {
        return PeerPort.unreachable(peerUrl, DEADLINE).get(2 * DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    private boolean answers() throws Exception {
        return PeerPort.answers(connections, url, DEADLINE).get(2 * DEADLINE.toSeconds(), TimeUnit.SECONDS);
    }

    private void resetAll() {
        try {
            while (true) {
                Socket client = server.accept();
                client.setSoLinger(true, 0);
                client.close();
            }
        } catch (IOException e) {
            // Closed: the test is over.
            return;
        }
    }
}
