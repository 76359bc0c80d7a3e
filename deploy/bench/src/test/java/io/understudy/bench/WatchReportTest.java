package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.understudy.bench.PathResult.Failed;
import io.understudy.bench.PathResult.Measured;
import io.understudy.bench.PathResult.NotServed;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class WatchReportTest {

    @Test
    void aTableHasEachRunTheMedianAndTheVerdicts() {
        String text = report(Map.of(ServerPath.GATEWAY, paced(2, 5, 1.05), ServerPath.LEADER, paced(8, 4, 1.00)))
                .toText();

        assertThat(text)
                .contains("each-1000: 1,000 watchers, a stream each, 100 puts/s")
                .containsPattern("leader +1 +4\\.00 +8\\.00 +1\\.00 +voters 8\\.0")
                .containsPattern("gateway +median +5\\.00 +2\\.00 +1\\.05")
                .contains("gateway to leader: CPU us/event 0.25, at most 0.33: met")
                .contains("gateway to leader: p99 ms 1.25, at most 1.00: missed")
                .contains("gateway: voters to 1 1.05, at least 0.90, at most 1.10: met")
                .doesNotContain("bytes to 1");
    }

    @Test
    void aPeerThatLostSomethingHasNoFiguresButAReason() {
        String text = report(Map.of(
                        ServerPath.GATEWAY, paced(2, 5, 1), ServerPath.LEADER, new Failed<>("a watcher was cancelled")))
                .toText();

        assertThat(text)
                .containsPattern("leader +failed +a watcher was cancelled")
                .doesNotContain("gateway to leader");
    }

    @Test
    void whatTheGatewayDoesNotServeIsComparedWithNothing() {
        String text = report(Map.of(ServerPath.GATEWAY, new NotServed<>("not yet"), ServerPath.LEADER, paced(8, 4, 1)))
                .toText();

        assertThat(text).containsPattern("gateway +not served +not yet").doesNotContain("met", "missed");
    }

    @Test
    void jsonHasTheSameFacts() throws Exception {
        JsonNode work = new ObjectMapper()
                .readTree(report(Map.of(ServerPath.GATEWAY, paced(2, 5, 1.2), ServerPath.LEADER, paced(8, 4, 1)))
                        .toJson())
                .path("works")
                .path(0);

        assertThat(work.path("work").asText()).isEqualTo("each-1000");
        assertThat(work.at("/paths/gateway/runs")).hasSize(1);
        assertThat(work.at("/paths/gateway/median/cpuMicrosPerEvent").asDouble())
                .isEqualTo(2);
        assertThat(work.at("/paths/leader/median/cpuMicrosPerEventByRole/voters")
                        .asDouble())
                .isEqualTo(8);
        assertThat(work.at("/aims/0/shareOf").asText()).isEqualTo("leader");
        assertThat(work.at("/aims/0/met").asBoolean()).isTrue();
        assertThat(work.at("/aims/2/value").asDouble()).isEqualTo(1.2);
        assertThat(work.at("/aims/2/met").asBoolean()).isFalse();
    }

    @Test
    void worksAreMeasuredOnceAndTheIdleFirst() {
        WatchBenchSettings settings = new WatchBenchSettings(
                List.of(WatchWork.EACH_100, WatchWork.IDLE, WatchWork.EACH_100), schedule(), 1, List.of(1));

        assertThat(settings.works()).containsExactly(WatchWork.IDLE, WatchWork.EACH_100);
    }

    private static WatchReport report(Map<ServerPath, PathResult<WatchRun>> paths) {
        return new WatchReport(
                new WatchBenchSettings(List.of(WatchWork.EACH_1000), schedule(), 100, List.of(16)),
                new Surroundings(2, 0.3, "3.5.30", "17", List.of(), "own client"),
                List.of(new WatchResult(WatchWork.EACH_1000, Map.of(), Map.of(), paths)));
    }

    private static Schedule schedule() {
        return new Schedule(
                1, Duration.ofSeconds(8), Duration.ofSeconds(3), Duration.ofSeconds(5), Duration.ZERO, false);
    }

    private static Measured<WatchRun> paced(double cpuMicros, double p99Millis, double votersToOne) {
        return WatchRun.all(List.of(new WatchRun(
                Map.of(
                        WatchFigure.CPU_MICROS, cpuMicros,
                        WatchFigure.P99_MILLIS, p99Millis,
                        WatchFigure.VOTERS_TO_ONE, votersToOne),
                Map.of(Role.VOTERS, cpuMicros))));
    }
}
