package io.understudy.bench;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

/** Measures the CPU time of the servers, and when they are warm. */
final class CpuMeter {

    /** By less than this work got cheaper when a server is warm: a JVM has compiled what is used. */
    private static final double CHEAPER = 0.95;

    private static final int NO_CHEAPER_IN_A_ROW = 2;

    /** On a busy machine time alone does not show how much was compiled. */
    private static final double LEAST_CPU_MICROS = 15e6;

    private static final int MAX_FIRST_WARM_UPS = 15;

    /** A gateway's CPU time of which less goes to the compilers is its own. */
    private static final double COMPILING = 0.05;

    private static final int MAX_FINISHING = 10;

    private final List<Server> servers;
    private final Schedule schedule;

    CpuMeter(List<Server> servers, Schedule schedule) {
        this.servers = List.copyOf(servers);
        this.schedule = schedule;
    }

    /** Returns the CPU microseconds that the servers use per second while idle. */
    Map<ProcessRole, Double> idleRates() throws InterruptedException {
        CpuReading before = now();
        TimeUnit.MILLISECONDS.sleep(schedule.idle().toMillis());
        return now().rateSince(before);
    }

    CpuReading now() {
        return CpuReading.of(servers);
    }

    /** CPU microseconds of the path's servers since then, less what they use when idle; may be changed. */
    Map<ProcessRole, Double> used(ServerPath path, CpuReading before, Map<ProcessRole, Double> idle) {
        Map<ProcessRole, Double> used = now().usedSince(before, idle);
        used.keySet().retainAll(path.roles());
        return used;
    }

    /**
     * Loads a path until that gets no cheaper and its servers have worked for a while.
     *
     * @param load loads it for about the schedule's warm-up and returns the number of requests, or of events
     * @return for how long
     */
    Duration warmUp(ServerPath path, LongSupplier load) {
        double least = Double.POSITIVE_INFINITY;
        double spent = 0;
        int noCheaper = 0;
        int times = 0;
        while (times < MAX_FIRST_WARM_UPS && (noCheaper < NO_CHEAPER_IN_A_ROW || spent < LEAST_CPU_MICROS)) {
            CpuReading before = now();
            long amount = load.getAsLong();
            double used = sum(used(path, before, Map.of()));
            double cost = amount == 0 ? Double.POSITIVE_INFINITY : used / amount;
            noCheaper = cost > least * CHEAPER ? noCheaper + 1 : 0;
            least = Math.min(least, cost);
            spent += used;
            times++;
        }
        return schedule.warmUp().multipliedBy(times);
    }

    /**
     * Loads a path further until the gateway compiles hardly anything; other servers have nothing to compile.
     *
     * @param load loads it for about the schedule's warm-up
     * @return for how long
     */
    Duration finishCompiling(ServerPath path, Runnable load) {
        List<Long> compiling = servers.stream()
                .filter(server ->
                        server.role() == ProcessRole.GATEWAY && path.roles().contains(server.role()))
                .map(Server::pid)
                .toList();
        double share = compiling.isEmpty() ? 0 : 1;
        int times = 0;
        while (times < MAX_FINISHING && share > COMPILING) {
            long compilers = sum(compiling, ProcessCpu::compilerMicros);
            long all = sum(compiling, ProcessCpu::micros);
            load.run();
            long compiled = sum(compiling, ProcessCpu::compilerMicros) - compilers;
            // A compiler's thread may have ended, and what it used is not counted any more.
            share = compiled < 0 ? 1 : (double) compiled / Math.max(1, sum(compiling, ProcessCpu::micros) - all);
            times++;
        }
        return schedule.warmUp().multipliedBy(times);
    }

    private static long sum(List<Long> pids, ToLongFunction<Long> micros) {
        return pids.stream().mapToLong(micros).sum();
    }

    static double sum(Map<ProcessRole, Double> figures) {
        return figures.values().stream().mapToDouble(Double::doubleValue).sum();
    }

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
            microsByRole.forEach((role, micros) ->
                    used.put(role, micros - earlier.used(role) - idle.getOrDefault(role, 0.0) * seconds));
            return used;
        }

        private long used(ProcessRole role) {
            return microsByRole.getOrDefault(role, 0L);
        }
    }
}
