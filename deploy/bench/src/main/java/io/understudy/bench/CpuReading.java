package io.understudy.bench;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * CPU time that servers have used so far.
 *
 * @param nanos when, by {@link System#nanoTime}
 */
record CpuReading(long nanos, Map<Role, Long> microsByRole) {

    CpuReading {
        microsByRole = Map.copyOf(microsByRole);
    }

    static CpuReading of(List<Server> servers) {
        Map<Role, Long> micros = new EnumMap<>(Role.class);
        servers.forEach(server -> micros.merge(server.role(), ProcessCpu.micros(server.pid()), Long::sum));
        return new CpuReading(System.nanoTime(), micros);
    }

    /** Microseconds of CPU time per second, by role, since an earlier reading of the same servers. */
    Map<Role, Double> rateSince(CpuReading earlier) {
        double seconds = (nanos - earlier.nanos) / 1e9;
        Map<Role, Double> rates = new EnumMap<>(Role.class);
        microsByRole.forEach((role, micros) -> rates.put(role, (micros - earlier.used(role)) / seconds));
        return rates;
    }

    /**
     * Microseconds of CPU time, by role, since an earlier reading of the same servers, less their idle use.
     *
     * @param idle as {@link #rateSince}
     */
    Map<Role, Double> usedSince(CpuReading earlier, Map<Role, Double> idle) {
        double seconds = (nanos - earlier.nanos) / 1e9;
        Map<Role, Double> used = new EnumMap<>(Role.class);
        microsByRole.forEach(
                (role, micros) -> used.put(role, micros - earlier.used(role) - idle.getOrDefault(role, 0.0) * seconds));
        return used;
    }

    private long used(Role role) {
        return microsByRole.getOrDefault(role, 0L);
    }
}
