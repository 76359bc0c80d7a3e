package io.understudy.bench;

import java.util.HashMap;
import java.util.Map;

/**
 * A load and what it took.
 *
 * @param cpuMicros of the path's servers, less what they use when idle
 * @param loadCores cores that the load generator used
 * @param voterBytes between voters and their clients; zero if not measured
 */
record WatchCost(WatchLoad load, Map<Role, Double> cpuMicros, double loadCores, long voterBytes) {

    WatchCost {
        cpuMicros = Map.copyOf(cpuMicros);
    }

    Map<Role, Double> cpuMicrosPerEvent() {
        Map<Role, Double> perEvent = new HashMap<>(cpuMicros);
        perEvent.replaceAll((role, micros) -> micros / load.events().requests());
        return perEvent;
    }

    double cpuMicrosPerPut() {
        return CpuMeter.sum(cpuMicros) / load.puts();
    }

    double votersMicrosPerPut() {
        return cpuMicros.getOrDefault(Role.VOTERS, 0.0) / load.puts();
    }

    double voterBytesPerPut() {
        return (double) voterBytes / load.puts();
    }
}
