package io.understudy.bench.mirror;

import java.util.Locale;

/** What can be measured. */
enum MirrorFigure {
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

    MirrorFigure(String title, String jsonName, String form) {
        this.title = title;
        this.jsonName = jsonName;
        this.form = form;
    }

    String title() {
        return title;
    }

    String jsonName() {
        return jsonName;
    }

    String format(double value) {
        return String.format(Locale.ROOT, form, value);
    }
}
