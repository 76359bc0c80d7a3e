package io.understudy.bench;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** How a path did with a work. */
sealed interface PathResult {

    /** It doesn't answer this kind of request, in its own words. */
    record NotServed(String reason) implements PathResult {}

    /** All its runs, at least one. */
    record Measured(List<Run> runs) implements PathResult {

        public Measured {
            runs = List.copyOf(runs);
        }

        /** Each figure's median by itself. */
        Run median() {
            Map<Role, Double> cpu = new EnumMap<>(Role.class);
            for (Role role : runs.get(0).cpuMicrosByRole().keySet()) {
                cpu.put(role, median(run -> run.cpuMicrosByRole().getOrDefault(role, 0.0)));
            }
            return new Run(
                    median(Run::perSecond),
                    median(Run::p50Millis),
                    median(Run::p99Millis),
                    median(Run::cpuMicros),
                    cpu);
        }

        private double median(ToDoubleFunction<Run> figure) {
            double[] sorted = runs.stream().mapToDouble(figure).toArray();
            Arrays.sort(sorted);
            int middle = sorted.length / 2;
            return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        }
    }
}
