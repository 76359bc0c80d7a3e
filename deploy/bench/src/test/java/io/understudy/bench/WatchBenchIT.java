package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.understudy.local.process.Command;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code understudy bench watch}, run as a user would from a checkout, on the smallest schedule. */
@Timeout(180)
@Tag("speed")
final class WatchBenchIT {

    private static final Path UNDERSTUDY = Path.of("../understudy").toAbsolutePath();

    @Test
    void watchersAreMeasuredAtTheLeaderAndItsPeers() throws Exception {
        JsonNode report = new ObjectMapper()
                .readTree(Command.of(List.of(
                                UNDERSTUDY.toString(),
                                "bench",
                                "watch",
                                "--work=shared-100",
                                "--output=json",
                                "--runs=1",
                                "--duration=300ms",
                                "--warm-up=50ms",
                                "--idle=100ms"))
                        .run(Duration.ofMinutes(3)));

        JsonNode work = report.path("works").path(0);
        assertThat(work.path("work").asText()).isEqualTo("shared-100");
        for (String path : List.of("leader", "grpc-proxy")) {
            JsonNode median = work.path("paths").path(path).path("median");
            assertThat(median.path("eventsPerSecond").asDouble()).as(path).isPositive();
            assertThat(median.path("p99Millis").asDouble())
                    .as(path)
                    .isGreaterThanOrEqualTo(median.path("p50Millis").asDouble());
        }
    }
}
