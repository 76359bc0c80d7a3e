package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A cluster of which no endpoint responds is reported with endpoint and cause. */
final class OutageTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Logger logger = (Logger) LoggerFactory.getLogger(ClusterProbe.class);
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

    @Test
    void endpointAndCauseAreLoggedOnceAndShown() throws Exception {
        int port;
        try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = closed.getLocalPort();
        }
        String endpoint = "http://127.0.0.1:" + port;
        logged.start();
        logger.addAppender(logged);
        try (EtcdCluster cluster =
                EtcdCluster.connect(EtcdSettings.of(URI.create(endpoint)), new SimpleMeterRegistry())) {
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(cluster.unreachable())
                    .isEqualTo("no endpoint reachable; " + endpoint + ": connection refused"));
        } finally {
            logger.detachAppender(logged);
        }
        List<String> warnings = List.copyOf(logged.list).stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .map(event -> event.getFormattedMessage() + " " + event.getKeyValuePairs())
                .toList();
        assertThat(warnings).singleElement().asString().contains(endpoint, "connection refused");
    }
}
