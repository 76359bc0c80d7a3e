package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.understudy.local.process.Command;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code understudy bench reads}, run as a user would from a checkout, on the smallest schedule. */
@Timeout(180)
@Tag("speed")
final class ReadBenchIT {

    private static final Path UNDERSTUDY = Path.of("../understudy").toAbsolutePath();

    @Test
    void everyPathOfAWorkIsMeasuredAndComparedWithTheGateway() throws Exception {
        JsonNode report = bench("--work=point");

        JsonNode work = report.path("works").path(0);
        for (String path : List.of("gateway", "learner", "grpc-proxy")) {
            JsonNode median = work.path("paths").path(path).path("median");
            assertThat(median.path("requestsPerSecond").asDouble()).as(path).isPositive();
            assertThat(median.path("p99Millis").asDouble())
                    .as(path)
                    .isGreaterThanOrEqualTo(median.path("p50Millis").asDouble());
        }
        assertThat(work.at("/aims/0/shareOf").asText()).isEqualTo("learner");
        assertThat(work.at("/aims/0/value").isNumber()).isTrue();
        assertThat(report.at("/surroundings/gatewayJvm"))
                .anySatisfy(option -> assertThat(option.asText()).isEqualTo("-XX:+UseG1GC"));
    }

    private static JsonNode bench(String... flags) throws Exception {
        List<String> line = new ArrayList<>(List.of(
                UNDERSTUDY.toString(),
                "bench",
                "reads",
                "--output=json",
                "--runs=1",
                "--duration=200ms",
                "--warm-up=100ms",
                "--idle=200ms",
                "--equal-load=0"));
        line.addAll(List.of(flags));
        return new ObjectMapper().readTree(Command.of(line).run(Duration.ofMinutes(3)));
    }
}
