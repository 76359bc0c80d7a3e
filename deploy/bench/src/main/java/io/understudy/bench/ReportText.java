package io.understudy.bench;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The text parts of all reports. */
final class ReportText {

    private ReportText() {}

    /** What went before the runs of a work. */
    static String before(Map<ServerPath, Duration> warmUps, Map<Role, Double> idleRates) {
        String each = new TreeMap<>(warmUps)
                .entrySet().stream()
                        .map(path -> path.getKey() + " " + seconds(path.getValue()))
                        .collect(Collectors.joining(", "));
        return "before: warm-up " + each + "; idle, ms of CPU per second: " + byRole(idleRates, 1e-3);
    }

    static String byRole(Map<Role, Double> figures, double scale) {
        return new TreeMap<>(figures)
                .entrySet().stream()
                        .map(each -> each.getKey() + " " + format("%.1f", each.getValue() * scale))
                        .collect(Collectors.joining(", "));
    }

    static String verdict(boolean met) {
        return met ? "met" : "missed";
    }

    static String seconds(Duration duration) {
        return format("%.1f s", duration.toMillis() / 1e3);
    }

    static String format(String form, double figure) {
        return String.format(Locale.ROOT, form, figure);
    }
}
