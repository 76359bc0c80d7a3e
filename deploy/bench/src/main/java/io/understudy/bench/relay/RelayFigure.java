package io.understudy.bench.relay;

import io.understudy.bench.Figure;
import io.understudy.bench.Latencies;
import java.util.EnumMap;
import java.util.Map;

/** What can be measured. */
public enum RelayFigure implements Figure {
    CHANGES_PER_SECOND("changes/s", "changesPerSecond", "%.0f"),
    MEGABYTES_PER_SECOND("MB/s", "megabytesPerSecond", "%.2f"),
    SECONDS_WITH_START("s with start", "secondsWithStart", "%.1f"),
    KEYS_PER_SECOND("keys/s", "keysPerSecond", "%.0f"),
    PUTS_PER_SECOND("puts/s", "putsPerSecond", "%.0f"),
    DRAIN_MILLIS("drained ms", "drainMillis", "%.0f"),
    P50_MILLIS("p50 ms", "p50Millis", "%.2f"),
    P99_MILLIS("p99 ms", "p99Millis", "%.2f"),
    CPU_MICROS("CPU us/key", "cpuMicrosPerKey", "%.0f"),
    RESIDENT_MEGABYTES("resident MB", "residentMegabytes", "%.0f");

    @SuppressWarnings("ImmutableEnumChecker") // a record of plain values is
    private final Form form;

    RelayFigure(String title, String jsonName, String pattern) {
        form = new Form(title, jsonName, pattern);
    }

    /** The two of how long something took, by what it took each time. */
    public static Map<RelayFigure, Double> of(Latencies latencies) {
        Map<RelayFigure, Double> figures = new EnumMap<>(RelayFigure.class);
        figures.put(P50_MILLIS, latencies.millis(0.5));
        figures.put(P99_MILLIS, latencies.millis(0.99));
        return figures;
    }

    @Override
    public Form form() {
        return form;
    }
}
