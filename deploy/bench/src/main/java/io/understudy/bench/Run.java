package io.understudy.bench;

import java.util.List;
import java.util.Map;

/**
 * Figures of one run, or the median of each figure over several.
 *
 * @param perSecond requests answered per second
 * @param p50Millis within which half of them were
 * @param p99Millis within which 99 of a hundred were
 * @param cpuMicros CPU time of all servers of the path per request, less their idle rate
 * @param cpuMicrosByRole the same, apart
 */
record Run(double perSecond, double p50Millis, double p99Millis, double cpuMicros, Map<Role, Double> cpuMicrosByRole) {

    Run {
        cpuMicrosByRole = Map.copyOf(cpuMicrosByRole);
    }

    /** At least one, and the median of each figure. */
    static PathResult.Measured<Run> all(List<Run> runs) {
        return new PathResult.Measured<>(
                runs,
                new Run(
                        Medians.of(runs, Run::perSecond),
                        Medians.of(runs, Run::p50Millis),
                        Medians.of(runs, Run::p99Millis),
                        Medians.of(runs, Run::cpuMicros),
                        Medians.each(runs, Run::cpuMicrosByRole)));
    }
}
