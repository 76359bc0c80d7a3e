package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.understudy.bench.Work.Target;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

/** Tables, medians and goals of a report. */
final class ExperimentTest {

    @Test
    void aTableHasEachRunTheMedianAndTheVerdicts() {
        String text = report(paced(2, 5, 1.05), paced(8, 4, 1.00)).toText();

        assertThat(text)
                .startsWith("2 cores")
                .contains("each-1000: 1,000 watchers, a stream each")
                .containsPattern("leader +1 +4\\.00 +8\\.00 +1\\.00 +voters 8\\.0")
                .containsPattern("gateway +median +5\\.00 +2\\.00 +1\\.05")
                .contains("gateway to leader: CPU us/event 0.25, at most 0.33: met")
                .contains("gateway to leader: p99 ms 1.25, at most 1.00: missed")
                .contains("gateway: voters to 1 1.05, at least 0.90, at most 1.10: met")
                .doesNotContain("bytes to 1");
    }

    @Test
    void aPathWithoutRunsHasAReasonAndNoGoals() {
        assertThat(report(paced(2, 5, 1), Series.failed(new BenchException("a watcher was cancelled")))
                        .toText())
                .containsPattern("leader +failed +a watcher was cancelled")
                .doesNotContain("gateway to leader");
        assertThat(report(Series.notServed(new BenchException("not yet")), paced(8, 4, 1))
                        .toText())
                .containsPattern("gateway +not served +not yet")
                .doesNotContain("met", "missed");
    }

    @Test
    void jsonHasTheSameFacts() throws Exception {
        JsonNode report = new ObjectMapper()
                .readTree(report(paced(2, 5, 1.2), paced(8, 4, 1)).toJson());
        JsonNode work = report.path("works").path(0);

        assertThat(report.path("cores").asInt()).isEqualTo(2);
        assertThat(work.path("work").asText()).isEqualTo("each-1000");
        assertThat(work.at("/paths/gateway/runs")).hasSize(1);
        assertThat(work.at("/paths/gateway/median/cpuMicrosPerEvent").asDouble())
                .isEqualTo(2);
        assertThat(work.at("/paths/leader/median/cpuMicrosByRole/voters").asDouble())
                .isEqualTo(8);
        assertThat(work.at("/aims/0/shareOf").asText()).isEqualTo("leader");
        assertThat(work.at("/aims/0/met").asBoolean()).isTrue();
        assertThat(work.at("/aims/2/value").asDouble()).isEqualTo(1.2);
        assertThat(work.at("/aims/2/met").asBoolean()).isFalse();
    }

    @Test
    void aMedianIsOfEachFigure_ofAnEvenNumberBetweenTheTwoInTheMiddle() {
        assertThat(Run.median(List.of(run(100, 9), run(300, 7), run(200, 8)))).isEqualTo(run(200, 8));
        assertThat(Run.median(List.of(run(10, 1), run(40, 1), run(20, 1), run(30, 1))))
                .isEqualTo(run(25, 1));
    }

    @Test
    void aGoalIsMetUpToItsLimit_andMayBeADifference() {
        assertThat(outcome(Work.POINT.targets().get(0).cpu(), 4, 10).isMet()).isTrue();
        assertThat(outcome(Work.POINT.targets().get(0).cpu(), 4.1, 10).isMet()).isFalse();
        assertThat(outcome(Goal.within(Figure.CPU_PER_REQUEST, ServerPath.LEARNER, 2), 12, 10)
                        .toText())
                .isEqualTo("gateway less learner: CPU us/request 2.00, at most 2.00: met");
        assertThat(outcome(Target.shown(ServerPath.LEARNER).cpu(), 5, 10).toText())
                .isEqualTo("gateway to learner: CPU us/request 0.50");
    }

    @Test
    void worksAreMeasuredOnceAndTheIdleFirst() {
        WatchBenchSettings settings = new WatchBenchSettings(
                List.of(WatchWork.EACH_100, WatchWork.IDLE, WatchWork.EACH_100),
                new Schedule(
                        1, Duration.ofSeconds(8), Duration.ofSeconds(3), Duration.ofSeconds(5), Duration.ZERO, false),
                1,
                List.of(1));

        assertThat(settings.works()).containsExactly(WatchWork.IDLE, WatchWork.EACH_100);
    }

    private static Experiment report(Series gateway, Series leader) {
        Map<String, Series> paths = new LinkedHashMap<>();
        paths.put("leader", leader);
        paths.put("gateway", gateway);
        WatchWork work = WatchWork.EACH_1000;
        return new Experiment(
                List.of("2 cores"),
                Map.of("cores", 2),
                List.of(new Experiment.Result(
                        work.toString(), work.description(), "gateway", paths, work.goals(), List.of())));
    }

    private static Series paced(double cpuMicros, double p99Millis, double votersToOne) {
        return new Series(List.of(new Run(
                Map.of(
                        Figure.CPU_PER_EVENT, cpuMicros,
                        Figure.P99_MILLIS, p99Millis,
                        Figure.VOTERS_TO_ONE, votersToOne),
                Map.of(ProcessRole.VOTERS, cpuMicros))));
    }

    private static Run run(double perSecond, double cpuMicros) {
        return new Run(
                Map.of(Figure.REQUESTS_PER_SECOND, perSecond, Figure.CPU_PER_REQUEST, cpuMicros),
                Map.of(ProcessRole.LEARNER, cpuMicros));
    }

    private static Goal.Outcome outcome(Goal goal, double gateway, double learner) {
        return goal.outcome("gateway", Map.of("gateway", cpu(gateway), "learner", cpu(learner)))
                .orElseThrow();
    }

    private static Series cpu(double... micros) {
        return new Series(DoubleStream.of(micros).mapToObj(each -> run(1, each)).toList());
    }
}
