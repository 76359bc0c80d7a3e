package io.understudy.bench;

import java.time.Duration;
import java.util.Map;

/** One run after the other, each with its warm-up. */
final class Measuring {

    private final LoadGenerator generator;
    private final CpuMeter cpu;
    private final Schedule schedule;

    Measuring(LoadGenerator generator, CpuMeter cpu, Schedule schedule) {
        this.generator = generator;
        this.cpu = cpu;
        this.schedule = schedule;
    }

    /** As {@link CpuMeter#idleRates}. */
    Map<ProcessRole, Double> idleRates() throws InterruptedException {
        return cpu.idleRates();
    }

    /**
     * As {@link CpuMeter#warmUp}, then {@link CpuMeter#finishCompiling}.
     *
     * @throws BenchException a request failed
     */
    Duration warmUp(ServerPath path, Shot shot) {
        return cpu.warmUp(path, () -> generator.warmUp(shot, schedule.warmUp()).requests())
                .plus(cpu.finishCompiling(path, () -> generator.warmUp(shot, schedule.warmUp())));
    }

    /**
     * Measures; at full pace after a warm-up, which determines how many requests make up the duration.
     *
     * @param idle as {@link #idleRates}
     * @throws BenchException a request failed
     */
    Run run(ServerPath path, Shot shot, Pace pace, Map<ProcessRole, Double> idle) {
        double perSecond =
                pace.isFull() ? generator.warmUp(shot, schedule.warmUp()).perSecond() : pace.perSecond();
        double wanted = perSecond * schedule.duration().toMillis() / 1e3;
        long perConnection = Math.round(wanted / shot.connections());
        long requests = Math.max(perConnection * shot.connections(), shot.inFlight());
        CpuReading before = cpu.now();
        Load load = generator.run(shot, requests, pace);
        Map<ProcessRole, Double> used = cpu.used(path, before, idle);
        used.replaceAll((role, micros) -> micros / load.tally().requests());
        Map<Figure, Double> figures = Run.latencies(load.latencies());
        figures.put(Figure.REQUESTS_PER_SECOND, load.tally().perSecond());
        figures.put(Figure.CPU_PER_REQUEST, CpuMeter.sum(used));
        return new Run(figures, used);
    }
}
