package io.understudy.gateway.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.understudy.gateway.dashboard.Rates.LatencyShares;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LatencySharesTest {

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final Timer some = timer("some");
    private final Timer more = timer("more");
    private final LatencyShares shares = new LatencyShares();

    @Test
    void nothingTimedHasNoShares() {
        shares.look(List.of(some, more));
        assertThat(shares.millis(0.5)).isEmpty();
    }

    @Test
    void aQuantileIsInterpolatedInItsBucket() {
        record(some, 90, Duration.ofMillis(1));
        record(more, 10, Duration.ofMillis(15));
        shares.look(List.of(some, more));
        assertThat(shares.millis(0.5).getAsDouble()).isBetween(0.0, 2.0);
        assertThat(shares.millis(0.99).getAsDouble()).isBetween(10.0, 20.0);
    }

    @Test
    void onlySamplesSinceTheLastLookCount() {
        record(some, 1000, Duration.ofMillis(15));
        shares.look(List.of(some));
        record(some, 10, Duration.ofMillis(1));
        shares.look(List.of(some));
        assertThat(shares.millis(0.99).getAsDouble()).isLessThanOrEqualTo(2.0);
        shares.look(List.of(some));
        assertThat(shares.millis(0.99)).isEmpty();
    }

    @Test
    void valuesBeyondTheLastBucketReturnItsBound() {
        record(some, 10, Duration.ofSeconds(3));
        shares.look(List.of(some));
        assertThat(shares.millis(0.5).getAsDouble()).isCloseTo(20, within(1e-9));
    }

    private Timer timer(String name) {
        return Timer.builder(name)
                .serviceLevelObjectives(Duration.ofMillis(2), Duration.ofMillis(10), Duration.ofMillis(20))
                .register(registry);
    }

    private static void record(Timer timer, int times, Duration each) {
        for (int i = 0; i < times; i++) {
            timer.record(each);
        }
    }
}
