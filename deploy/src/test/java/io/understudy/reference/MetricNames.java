package io.understudy.reference;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Rules for the names of meters. */
final class MetricNames {

    private static final Pattern OURS = Pattern.compile("understudy(\\.[a-z][a-z0-9]*)+");
    /** Prometheus adds the unit and {@code _total} by itself. */
    private static final Pattern UNIT = Pattern.compile(".*\\.(seconds|millis|ms|bytes|total|count)");

    private static final Pattern TAG = Pattern.compile("[a-z][a-z0-9]*(\\.[a-z][a-z0-9]*)*");

    /** Bound by libraries, with names of their own. */
    private static final List<String> FOREIGN =
            List.of("jvm.", "process.", "system.", "vertx.", "kafka.", "logback.", "disk.");

    private MetricNames() {}

    /** Faults of the names and tags in a registry, one line each. */
    static List<String> faults(MeterRegistry registry) {
        return registry.getMeters().stream()
                .map(Meter::getId)
                .filter(id -> FOREIGN.stream().noneMatch(id.getName()::startsWith))
                .flatMap(MetricNames::faults)
                .toList();
    }

    private static Stream<String> faults(Meter.Id id) {
        Stream<String> name = OURS.matcher(id.getName()).matches()
                ? Stream.empty()
                : Stream.of(id.getName() + " must have the form understudy.module.noun");
        Stream<String> unit = UNIT.matcher(id.getName()).matches()
                ? Stream.of(id.getName() + " must not end in a unit; set the unit of the meter")
                : Stream.empty();
        Stream<String> tags = id.getTags().stream()
                .map(Tag::getKey)
                .filter(key -> !TAG.matcher(key).matches())
                .map(key -> id.getName() + " has the tag " + key + ", which must be lower case");
        return Stream.of(name, unit, tags).flatMap(faults -> faults);
    }
}
