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

/** {@code understudy bench mirror}, run as a user would from a checkout, on the smallest schedule. */
@Timeout(180)
@Tag("speed")
final class MirrorBenchIT {

    private static final Path UNDERSTUDY = Path.of("../understudy").toAbsolutePath();

    @Test
    void theMirrorIsMeasuredBesideMakeMirror() throws Exception {
        JsonNode report = new ObjectMapper()
                .readTree(Command.of(List.of(
                                UNDERSTUDY.toString(),
                                "bench",
                                "mirror",
                                "--work=first-sync",
                                "--output=json",
                                "--runs=1",
                                "--keys=500",
                                "--make-mirror-keys=100"))
                        .run(Duration.ofMinutes(3)));

        JsonNode work = report.path("works").path(0);
        assertThat(work.path("work").asText()).isEqualTo("first-sync");
        for (String relay : List.of("mirror", "make-mirror")) {
            JsonNode median = work.path("paths").path(relay).path("median");
            assertThat(median.path("keysPerSecond").asDouble()).as(relay).isPositive();
        }
        assertThat(work.path("aims").path(0).path("atLeast").asDouble()).isEqualTo(20);
    }
}
