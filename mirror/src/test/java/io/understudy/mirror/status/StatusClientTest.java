package io.understudy.mirror.status;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** Connection failures are reported in words. */
final class StatusClientTest {

    @Test
    void aPortWithoutListenerReportsARefusedConnection() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        URI url = URI.create("http://127.0.0.1:" + port);
        assertThatThrownBy(() -> new StatusClient(url, null).status())
                .hasMessage("mirror process at " + url + " is not reachable: connection refused");
    }

    @Test
    void anUnresolvableHostIsReportedAsUnknown() {
        URI url = URI.create("http://nobody.invalid:1");
        assertThatThrownBy(() -> new StatusClient(url, null).status())
                .hasMessage("mirror process at " + url + " is not reachable: unknown host");
    }
}
