package io.understudy.bench;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * CPU time that servers have used so far.
 *
 * @param nanos when, by {@link System#nanoTime}
 */
record CpuReading(long nanos, Map<ProcessRole, Long> microsByRole) {

    CpuReading {
        microsByRole = Map.copyOf(microsByRole);
    }

    static CpuReading of(List<Server> servers) {
        Map<ProcessRole, Long> micros = new EnumMap<>(ProcessRole.class);
        servers.forEach(server -> micros.merge(server.role(), ProcessCpu.micros(server.pid()), Long::sum));
        return new CpuReading(System.nanoTime(), micros);
    }

    /** Microseconds of CPU time per second, by role, since an earlier reading of the same servers. */
    Map<ProcessRole, Double> rateSince(CpuReading earlier) {
        double seconds = (nanos - earlier.nanos) / 1e9;
        Map<ProcessRole, Double> rates = new EnumMap<>(ProcessRole.class);
        microsByRole.forEach((role, micros) -> rates.put(role, (micros - earlier.used(role)) / seconds));
        return rates;
    }

    /**
     * Microseconds of CPU time, by role, since an earlier reading of the same servers, less their idle use.
     *
     * @param idle as {@link #rateSince}
     */
    Map<ProcessRole, Double> usedSince(CpuReading earlier, Map<ProcessRole, Double> idle) {
        double seconds = (nanos - earlier.nanos) / 1e9;
        Map<ProcessRole, Double> used = new EnumMap<>(ProcessRole.class);
        microsByRole.forEach(
                (role, micros) -> used.put(role, micros - earlier.used(role) - idle.getOrDefault(role, 0.0) * seconds));
        return used;
    }

    private long used(ProcessRole role) {
        return microsByRole.getOrDefault(role, 0L);
    }
}
