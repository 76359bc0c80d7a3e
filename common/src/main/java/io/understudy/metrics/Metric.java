package io.understudy.metrics;

import io.micrometer.core.instrument.Meter;
import io.micrometer.prometheusmetrics.PrometheusNamingConvention;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The description of a meter, for scrapes and for the reference.
 *
 * @param name as registered
 * @param unit base unit; null for counts, and for timers, which are in seconds
 * @param meaning a phrase
 * @param tags those it has beside {@code process}
 */
public record Metric(String name, Type type, @Nullable String unit, String meaning, List<Label> tags) {

    private static final PrometheusNamingConvention PROMETHEUS = new PrometheusNamingConvention();

    public Metric {
        tags = List.copyOf(tags);
    }

    /** Kind of a meter. */
    public enum Type {
        COUNTER(Meter.Type.COUNTER),
        GAUGE(Meter.Type.GAUGE),
        /** Distribution of durations. */
        TIMER(Meter.Type.TIMER),
        /** Distribution of other amounts. */
        SUMMARY(Meter.Type.DISTRIBUTION_SUMMARY);

        private final Meter.Type type;

        Type(Meter.Type type) {
            this.type = type;
        }

        /** Name in documentation. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** A tag, with a phrase for its values. */
    public record Label(String key, String values) {}

    public static Metric counter(String name, String meaning) {
        return new Metric(name, Type.COUNTER, null, meaning, List.of());
    }

    public static Metric counter(String name, String unit, String meaning) {
        return new Metric(name, Type.COUNTER, unit, meaning, List.of());
    }

    public static Metric gauge(String name, String meaning) {
        return new Metric(name, Type.GAUGE, null, meaning, List.of());
    }

    public static Metric gauge(String name, String unit, String meaning) {
        return new Metric(name, Type.GAUGE, unit, meaning, List.of());
    }

    public static Metric timer(String name, String meaning) {
        return new Metric(name, Type.TIMER, null, meaning, List.of());
    }

    public static Metric summary(String name, String unit, String meaning) {
        return new Metric(name, Type.SUMMARY, unit, meaning, List.of());
    }

    /** The unit as Prometheus shows it; empty for none. */
    public String shownUnit() {
        return type == Type.TIMER ? "seconds" : unit == null ? "" : unit;
    }

    /** Name in Prometheus' text format; timers and summaries add {@code _count}, {@code _sum} and {@code _max}. */
    public String prometheusName() {
        String named = PROMETHEUS.name(name, type.type, unit);
        return type == Type.COUNTER && !named.endsWith("_total") ? named + "_total" : named;
    }

    /** The same with another tag. */
    public Metric by(String key, String values) {
        List<Label> more = new ArrayList<>(tags);
        more.add(new Label(key, values));
        return new Metric(name, type, unit, meaning, more);
    }
}
