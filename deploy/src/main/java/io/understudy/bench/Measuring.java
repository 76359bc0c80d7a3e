package io.understudy.bench;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** One run after the other, each with its warm-up. */
final class Measuring {

    private final LoadGenerator generator;
    private final List<Server> servers;
    private final Map<Role, Double> idle;
    private final ReadBenchSettings settings;

    /** @param idle CPU microseconds per second that each role uses when nobody asks */
    Measuring(LoadGenerator generator, List<Server> servers, Map<Role, Double> idle, ReadBenchSettings settings) {
        this.generator = generator;
        this.servers = List.copyOf(servers);
        this.idle = Map.copyOf(idle);
        this.settings = settings;
    }

    /**
     * Prepares a path for the runs of a work.
     *
     * @throws BenchException a request failed
     */
    void warmUp(Shot shot) {
        generator.warmUp(shot, settings.firstWarmUp());
    }

    /** @throws BenchException a request failed */
    Run run(ReadPath path, Shot shot) {
        double perSecond = generator.warmUp(shot, settings.warmUp());
        long perConnection = Math.round(perSecond * settings.duration().toMillis() / 1e3 / shot.connections());
        long requests = Math.max(perConnection * shot.connections(), shot.inFlight());
        CpuReading before = CpuReading.of(servers);
        Load load = generator.run(shot, requests);
        CpuReading after = CpuReading.of(servers);
        Map<Role, Double> cpu = new EnumMap<>(Role.class);
        after.usedSince(before, idle).forEach((role, micros) -> {
            if (path.roles().contains(role)) {
                cpu.put(role, micros / load.requests());
            }
        });
        return new Run(
                load.perSecond(),
                load.latencies().millis(0.5),
                load.latencies().millis(0.99),
                cpu.values().stream().mapToDouble(Double::doubleValue).sum(),
                cpu);
    }
}
