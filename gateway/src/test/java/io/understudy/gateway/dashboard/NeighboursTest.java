package io.understudy.gateway.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class NeighboursTest {

    @Test
    void aTimeoutInMidResponseClosesTheConnection() throws Exception {
        try (ServerSocket frozen = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Neighbours neighbours = new Neighbours(
                        new DashboardSettings(
                                true,
                                List.of(),
                                List.of(URI.create("http://127.0.0.1:" + frozen.getLocalPort())),
                                List.of(),
                                null),
                        new SimpleMeterRegistry())) {
            neighbours.poll();
            try (Socket connection = frozen.accept()) {
                connection
                        .getOutputStream()
                        .write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".getBytes(StandardCharsets.US_ASCII));
                await().atMost(Duration.ofSeconds(10)).until(() -> "no response within 1000 ms"
                        .equals(neighbours.of(Neighbour.Kind.MIRROR).get(0).problem()));

                connection.setSoTimeout(10_000);
                assertThat(isEndedByTheOther(connection)).isTrue();
            }
        }
    }

    /** Reads the request, and on until there is no more. */
    private static boolean isEndedByTheOther(Socket socket) throws IOException {
        try {
            socket.getInputStream().readAllBytes();
            return true;
        } catch (SocketException reset) {
            return true;
        }
    }
}
