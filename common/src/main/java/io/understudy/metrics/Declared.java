package io.understudy.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

/**
 * A meter that a module may register. An enumeration of them is the only place where a module names and describes its
 * meters. The builders lack the tags' values.
 */
public interface Declared {

    Metric metric();

    /**
     * Builds a counter.
     *
     * @throws IllegalStateException it is declared as another type; likewise for the others
     */
    default Counter.Builder counter() {
        Metric metric = required(Metric.Type.COUNTER);
        return Counter.builder(metric.name()).description(metric.meaning()).baseUnit(metric.unit());
    }

    default Timer.Builder timer() {
        Metric metric = required(Metric.Type.TIMER);
        return Timer.builder(metric.name()).description(metric.meaning());
    }

    default DistributionSummary.Builder summary() {
        Metric metric = required(Metric.Type.SUMMARY);
        return DistributionSummary.builder(metric.name())
                .description(metric.meaning())
                .baseUnit(metric.unit());
    }

    /** Builds a gauge that keeps {@code value}. */
    default Gauge.Builder<Supplier<Number>> gauge(Supplier<Number> value) {
        Metric metric = required(Metric.Type.GAUGE);
        return Gauge.builder(metric.name(), value).description(metric.meaning()).baseUnit(metric.unit());
    }

    /** Builds a gauge that doesn't keep {@code of} by default. */
    default <T> Gauge.Builder<T> gauge(T of, ToDoubleFunction<T> value) {
        Metric metric = required(Metric.Type.GAUGE);
        return Gauge.builder(metric.name(), of, value)
                .description(metric.meaning())
                .baseUnit(metric.unit());
    }

    private Metric required(Metric.Type type) {
        Metric metric = metric();
        if (metric.type() != type) {
            throw new IllegalStateException(
                    metric.name() + " is a " + metric.type().word());
        }
        return metric;
    }
}
