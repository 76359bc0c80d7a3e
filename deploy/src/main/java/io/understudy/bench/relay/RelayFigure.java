package io.understudy.bench.relay;

import java.util.Locale;

/** What can be measured. */
public enum RelayFigure {
    CHANGES_PER_SECOND("changes/s", "changesPerSecond", "%.0f"),
    SECONDS_WITH_START("s with start", "secondsWithStart", "%.1f"),
    KEYS_PER_SECOND("keys/s", "keysPerSecond", "%.0f"),
    PUTS_PER_SECOND("puts/s", "putsPerSecond", "%.0f"),
    DRAIN_MILLIS("drained ms", "drainMillis", "%.0f"),
    P50_MILLIS("p50 ms", "p50Millis", "%.2f"),
    P99_MILLIS("p99 ms", "p99Millis", "%.2f"),
    CPU_MICROS("CPU us/key", "cpuMicrosPerKey", "%.0f"),
    RESIDENT_MEGABYTES("resident MB", "residentMegabytes", "%.0f");

    private final String title;
    private final String jsonName;
    private final String form;

    RelayFigure(String title, String jsonName, String form) {
        this.title = title;
        this.jsonName = jsonName;
        this.form = form;
    }

    /** For people, with its unit. */
    public String title() {
        return title;
    }

    /** For programs. */
    public String jsonName() {
        return jsonName;
    }

    /** A value of it as people read it. */
    public String format(double value) {
        return String.format(Locale.ROOT, form, value);
    }
}
