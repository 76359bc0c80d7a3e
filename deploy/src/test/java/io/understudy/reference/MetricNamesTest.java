package io.understudy.reference;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests invariant ME1. */
final class MetricNamesTest {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @Test
    void namesOfOursAndOfKnownLibrariesAreFine() {
        registry.counter("understudy.etcd.requests", "duty", "watch");
        registry.counter("jvm.Whatever");

        assertThat(MetricNames.faults(registry)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "etcd.requests,duty,must have the form",
        "understudy.etcd.readIndex,duty,must have the form",
        "understudy.etcd.lag.seconds,duty,must not end in a unit",
        "understudy.etcd.requests,Duty,must be lower case"
    })
    void otherNamesAreReported(String name, String tag, String fault) {
        registry.counter(name, tag, "x");

        assertThat(MetricNames.faults(registry)).singleElement().asString().contains(name, fault);
    }
}
