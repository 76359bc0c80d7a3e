package io.understudy.bench;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** One run after the other, each with its warm-up. */
final class Measuring {

    /** By less than this requests got cheaper when a server is warm: a JVM has compiled what is used. */
    private static final double CHEAPER = 0.95;

    private static final int NO_CHEAPER_IN_A_ROW = 2;

    /** On a busy machine time alone tells nothing of how much was compiled. */
    private static final double LEAST_CPU_MICROS = 15e6;

    private static final int MAX_FIRST_WARM_UPS = 15;

    private final LoadGenerator generator;
    private final List<Server> servers;
    private final ReadBenchSettings settings;

    Measuring(LoadGenerator generator, List<Server> servers, ReadBenchSettings settings) {
        this.generator = generator;
        this.servers = List.copyOf(servers);
        this.settings = settings;
    }

    /** CPU microseconds that the servers use per second now that nobody asks them. */
    Map<Role, Double> idleRates() throws InterruptedException {
        CpuReading before = CpuReading.of(servers);
        TimeUnit.MILLISECONDS.sleep(settings.idle().toMillis());
        return CpuReading.of(servers).rateSince(before);
    }

    /**
     * Sends requests until they get no cheaper and the servers have worked for a while.
     *
     * @return for how long
     * @throws BenchException a request failed
     */
    Duration warmUp(ReadPath path, Shot shot) {
        double least = Double.POSITIVE_INFINITY;
        double spent = 0;
        int noCheaper = 0;
        int times = 0;
        while (times < MAX_FIRST_WARM_UPS && (noCheaper < NO_CHEAPER_IN_A_ROW || spent < LEAST_CPU_MICROS)) {
            CpuReading before = CpuReading.of(servers);
            Tally tally = generator.warmUp(shot, settings.warmUp());
            double used = sum(used(path, before, Map.of()));
            double cost = tally.requests() == 0 ? Double.POSITIVE_INFINITY : used / tally.requests();
            noCheaper = cost > least * CHEAPER ? noCheaper + 1 : 0;
            least = Math.min(least, cost);
            spent += used;
            times++;
        }
        return settings.warmUp().multipliedBy(times);
    }

    /**
     * Measures; at full pace after a warm-up, which tells how many requests make up the duration.
     *
     * @param idle as {@link #idleRates}
     * @throws BenchException a request failed
     */
    Run run(ReadPath path, Shot shot, Pace pace, Map<Role, Double> idle) {
        double perSecond =
                pace.isFull() ? generator.warmUp(shot, settings.warmUp()).perSecond() : pace.perSecond();
        double wanted = perSecond * settings.duration().toMillis() / 1e3;
        long perConnection = Math.round(wanted / shot.connections());
        long requests = Math.max(perConnection * shot.connections(), shot.inFlight());
        CpuReading before = CpuReading.of(servers);
        Load load = generator.run(shot, requests, pace);
        Map<Role, Double> cpu = used(path, before, idle);
        cpu.replaceAll((role, micros) -> micros / load.tally().requests());
        return new Run(
                load.tally().perSecond(),
                load.latencies().millis(0.5),
                load.latencies().millis(0.99),
                sum(cpu),
                cpu);
    }

    /** CPU microseconds of the path's servers since then, less what they use when idle. */
    private Map<Role, Double> used(ReadPath path, CpuReading before, Map<Role, Double> idle) {
        Map<Role, Double> used = CpuReading.of(servers).usedSince(before, idle);
        used.keySet().retainAll(path.roles());
        return used;
    }

    private static double sum(Map<Role, Double> figures) {
        return figures.values().stream().mapToDouble(Double::doubleValue).sum();
    }
}
