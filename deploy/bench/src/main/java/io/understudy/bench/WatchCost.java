package io.understudy.bench;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/**
 * A load and what it took.
 *
 * @param cpuMicros of the path's servers, less what they use when idle
 * @param loadCores cores that the load generator used
 * @param voterBytes between voters and their clients; zero if not measured
 */
record WatchCost(WatchLoad load, Map<ProcessRole, Double> cpuMicros, double loadCores, long voterBytes) {

    WatchCost {
        cpuMicros = Map.copyOf(cpuMicros);
    }

    Map<ProcessRole, Double> cpuMicrosPerEvent() {
        Map<ProcessRole, Double> perEvent = new HashMap<>(cpuMicros);
        perEvent.replaceAll((role, micros) -> micros / load.events().requests());
        return perEvent;
    }

    double cpuMicrosPerPut() {
        return CpuMeter.sum(cpuMicros) / load.puts();
    }

    double votersMicrosPerPut() {
        return cpuMicros.getOrDefault(ProcessRole.VOTERS, 0.0) / load.puts();
    }

    double voterBytesPerPut() {
        return (double) voterBytes / load.puts();
    }

    /**
     * The figures of puts at a steady rate.
     *
     * @param one the same puts with one watcher
     */
    Run beside(WatchCost one) {
        Map<Figure, Double> figures = figures();
        double eventsPerPut = (double) load.events().requests() / load.puts();
        figures.put(Figure.CPU_LESS_PUTS, (cpuMicrosPerPut() - one.cpuMicrosPerPut()) / eventsPerPut);
        figures.put(Figure.VOTERS_TO_ONE, votersMicrosPerPut() / one.votersMicrosPerPut());
        if (one.voterBytes > 0) {
            figures.put(Figure.BYTES_TO_ONE, voterBytesPerPut() / one.voterBytesPerPut());
        }
        return new Run(figures, cpuMicrosPerEvent());
    }

    /** The figures of puts at full pace. */
    Run with(int inFlight) {
        Map<Figure, Double> figures = figures();
        figures.put(Figure.IN_FLIGHT, (double) inFlight);
        return new Run(figures, cpuMicrosPerEvent());
    }

    private Map<Figure, Double> figures() {
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.EVENTS_PER_SECOND, load.events().perSecond());
        figures.put(
                Figure.PUTS_PER_SECOND,
                load.events().perSecond() * load.puts() / load.events().requests());
        figures.putAll(Run.latencies(load.sinceAcknowledged()));
        figures.put(Figure.SENT_P50_MILLIS, load.sinceSent().millis(0.5));
        figures.put(Figure.SENT_P99_MILLIS, load.sinceSent().millis(0.99));
        figures.put(Figure.LOAD_CORES, loadCores);
        figures.put(Figure.CPU_PER_EVENT, CpuMeter.sum(cpuMicrosPerEvent()));
        if (voterBytes > 0) {
            figures.put(Figure.BYTES_PER_PUT, voterBytesPerPut());
        }
        return figures;
    }
}
