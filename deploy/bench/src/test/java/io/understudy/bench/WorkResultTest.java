package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.bench.PathResult.Measured;
import io.understudy.bench.PathResult.NotServed;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

final class WorkResultTest {

    @Test
    void eachFigureOfTheMedianIsItsOwn() {
        Measured<Run> measured = Run.all(List.of(
                new Run(100, 1, 9, 30, Map.of(Role.LEARNER, 30.0)),
                new Run(300, 3, 7, 10, Map.of(Role.LEARNER, 10.0)),
                new Run(200, 2, 8, 20, Map.of(Role.LEARNER, 20.0))));

        assertThat(measured.median()).isEqualTo(new Run(200, 2, 8, 20, Map.of(Role.LEARNER, 20.0)));
    }

    @Test
    void ofAnEvenNumberOfRunsTheMedianIsBetweenTheTwoInTheMiddle() {
        assertThat(cpu(10, 40, 20, 30).median().cpuMicros()).isEqualTo(25);
    }

    @Test
    void aTargetIsMetUpToItsLimit() {
        assertThat(point(cpu(4), cpu(10)).comparisons().get(0).isCheapEnough()).isTrue();
        assertThat(point(cpu(4.1), cpu(10)).comparisons().get(0).isCheapEnough())
                .isFalse();
    }

    @Test
    void mediansAreCompared() {
        assertThat(point(cpu(1, 5, 100), cpu(10, 10, 10)).comparisons().get(0).cpuShare())
                .isEqualTo(0.5);
    }

    @Test
    void whatIsNotServedIsComparedWithNothing() {
        assertThat(point(new NotServed<>("not yet"), cpu(10)).comparisons()).isEmpty();
    }

    private static WorkResult point(PathResult<Run> gateway, PathResult<Run> learner) {
        Map<ServerPath, PathResult<Run>> paths = Map.of(ServerPath.GATEWAY, gateway, ServerPath.LEARNER, learner);
        return new WorkResult(Work.POINT, Map.of(), Map.of(), paths, paths);
    }

    private static Measured<Run> cpu(double... micros) {
        return Run.all(DoubleStream.of(micros)
                .mapToObj(each -> new Run(1, 1, 1, each, Map.of()))
                .toList());
    }
}
