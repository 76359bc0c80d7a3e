package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.understudy.bench.PathResult.Measured;
import io.understudy.bench.PathResult.NotServed;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class ReadReportTest {

    @Test
    void aTableHasEachRunAndTheMedianAndTheVerdict() {
        String text = report(Duration.ZERO, pointWith(measured(9, 1), measured(30, 2)))
                .toText();

        assertThat(text)
                .contains("2 cores, load average before 0.3, etcd 3.5.30, Java 17 with -XX:+UseG1GC, load by h2load")
                .containsPattern("gateway +1 +1000 +1\\.00 +1\\.00 +9\\.0")
                .containsPattern("gateway +median +1000 +1\\.00 +1\\.00 +9\\.0")
                .contains(
                        "gateway to learner: CPU 1/3.33, at most 1/2.5: met; p99 at equal load 0.50 of the peer's, at most 1:"
                                + " met")
                .contains("warm-up gateway 6.0 s", "learner 12.0");
    }

    @Test
    void aMissedTargetIsReported() {
        assertThat(report(Duration.ZERO, pointWith(measured(15, 3), measured(30, 2)))
                        .toText())
                .contains(
                        "gateway to learner: CPU 1/2.00, at most 1/2.5: missed; p99 at equal load 1.50 of the peer's, at most"
                                + " 1: missed");
    }

    @Test
    void whatIsNotServedHasNoFiguresButAReason() {
        String text = report(Duration.ZERO, pointWith(new NotServed<>("UNIMPLEMENTED, not yet"), measured(30, 2)))
                .toText();

        assertThat(text)
                .containsPattern("gateway +not served +UNIMPLEMENTED, not yet")
                .doesNotContain("gateway to");
    }

    @Test
    void theDelayByFarVotersIsReportedInRoundTrips() {
        WorkResult far = result(Map.of(ServerPath.GATEWAY, measured(9, 121), ServerPath.GATEWAY_NEAR, measured(9, 1)));

        assertThat(report(Duration.ofMillis(80), far).toText())
                .contains(
                        "p99 120.00 ms (1.50 and 1.50 round trips)",
                        "Round trip from the voting members to gateway, learner, grpc-proxy and load: 80 ms");
    }

    @Test
    void jsonHasTheSameFacts() throws Exception {
        JsonNode work = new ObjectMapper()
                .readTree(report(Duration.ZERO, pointWith(measured(9, 1), measured(30, 2)))
                        .toJson())
                .path("works")
                .path(0);

        assertThat(work.path("work").asText()).isEqualTo("point");
        assertThat(work.at("/paths/gateway/runs")).hasSize(1);
        assertThat(work.at("/paths/learner/median/cpuMicrosPerRequest").asDouble())
                .isEqualTo(30);
        assertThat(work.at("/comparisons/0/peer").asText()).isEqualTo("learner");
        assertThat(work.at("/comparisons/0/cpuShareMet").asBoolean()).isTrue();
        assertThat(work.at("/comparisons/0/equalLoadP99Share").asDouble()).isEqualTo(0.5);
    }

    private static ReadReport report(Duration roundTrip, WorkResult result) {
        ReadBenchSettings settings = new ReadBenchSettings(
                List.of(Work.POINT),
                new Schedule(1, Duration.ofSeconds(8), Duration.ofSeconds(3), Duration.ofSeconds(5), roundTrip, false),
                8,
                EqualLoad.parse("50%"),
                Generator.AUTO);
        return new ReadReport(
                settings, new Surroundings(2, 0.3, "3.5.30", "17", List.of("-XX:+UseG1GC"), "h2load"), List.of(result));
    }

    private static WorkResult pointWith(PathResult<Run> gateway, PathResult<Run> learner) {
        return result(Map.of(ServerPath.GATEWAY, gateway, ServerPath.LEARNER, learner));
    }

    private static WorkResult result(Map<ServerPath, PathResult<Run>> paths) {
        return new WorkResult(
                Work.POINT,
                Map.of(ServerPath.GATEWAY, Duration.ofSeconds(6)),
                Map.of(Role.LEARNER, 12_000.0),
                paths,
                paths);
    }

    private static Measured<Run> measured(double cpuMicros, double millis) {
        return Run.all(List.of(new Run(1_000, millis, millis, cpuMicros, Map.of(Role.LEARNER, cpuMicros))));
    }
}
