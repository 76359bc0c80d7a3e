package io.understudy.bench;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Figures of one run, or the median of each figure over several.
 *
 * @param cpuMicrosByRole CPU time per delivered event, apart; empty if that wasn't measured
 */
record WatchRun(Map<WatchFigure, Double> figures, Map<Role, Double> cpuMicrosByRole) {

    WatchRun {
        figures = Map.copyOf(figures);
        cpuMicrosByRole = Map.copyOf(cpuMicrosByRole);
    }

    /**
     * Of puts at a steady rate.
     *
     * @param one the same puts with one watcher
     */
    static WatchRun of(WatchCost all, WatchCost one) {
        Map<WatchFigure, Double> figures = figuresOf(all);
        double eventsPerPut =
                (double) all.load().events().requests() / all.load().puts();
        figures.put(WatchFigure.CPU_LESS_PUTS, (all.cpuMicrosPerPut() - one.cpuMicrosPerPut()) / eventsPerPut);
        figures.put(WatchFigure.VOTERS_TO_ONE, all.votersMicrosPerPut() / one.votersMicrosPerPut());
        if (one.voterBytes() > 0) {
            figures.put(WatchFigure.BYTES_TO_ONE, all.voterBytesPerPut() / one.voterBytesPerPut());
        }
        return new WatchRun(figures, all.cpuMicrosPerEvent());
    }

    /** Of puts as fast as they are delivered. */
    static WatchRun of(WatchCost all, int inFlight) {
        Map<WatchFigure, Double> figures = figuresOf(all);
        figures.put(WatchFigure.IN_FLIGHT, (double) inFlight);
        return new WatchRun(figures, all.cpuMicrosPerEvent());
    }

    private static Map<WatchFigure, Double> figuresOf(WatchCost all) {
        Map<WatchFigure, Double> figures = new EnumMap<>(WatchFigure.class);
        WatchLoad load = all.load();
        figures.put(WatchFigure.EVENTS_PER_SECOND, load.events().perSecond());
        figures.put(
                WatchFigure.PUTS_PER_SECOND,
                load.events().perSecond() * load.puts() / load.events().requests());
        figures.put(WatchFigure.P50_MILLIS, load.sinceAcknowledged().millis(0.5));
        figures.put(WatchFigure.P99_MILLIS, load.sinceAcknowledged().millis(0.99));
        figures.put(WatchFigure.SENT_P50_MILLIS, load.sinceSent().millis(0.5));
        figures.put(WatchFigure.SENT_P99_MILLIS, load.sinceSent().millis(0.99));
        figures.put(WatchFigure.LOAD_CORES, all.loadCores());
        figures.put(WatchFigure.CPU_MICROS, CpuMeter.sum(all.cpuMicrosPerEvent()));
        if (all.voterBytes() > 0) {
            figures.put(WatchFigure.BYTES_PER_PUT, all.voterBytesPerPut());
        }
        return figures;
    }

    /** One that was measured. */
    double figure(WatchFigure which) {
        return Optional.ofNullable(figures.get(which)).orElseThrow();
    }

    /** At least one, and the median of each figure. */
    static PathResult.Measured<WatchRun> all(List<WatchRun> runs) {
        return new PathResult.Measured<>(
                runs,
                new WatchRun(Medians.each(runs, WatchRun::figures), Medians.each(runs, WatchRun::cpuMicrosByRole)));
    }
}
