package io.understudy.gateway.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class GatewayMetricsTest {

    @Test
    void theReadmeListsEveryMetric() throws IOException {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        GatewayMetrics metrics = new GatewayMetrics(registry);
        metrics.observe(new GatewayMetrics.Gauges(
                () -> 1, () -> 1, () -> 1, () -> 1, () -> 1, () -> 1, () -> 1, () -> 1, () -> 1, () -> 1, () -> 1));
        metrics.requestsOf("method").answered("OK", 1_000_000);
        String readme = Files.readString(Path.of("README.md"));
        assertThat(registry.getMeters().stream().map(meter -> meter.getId().getName()))
                .isNotEmpty()
                .allSatisfy(name -> assertThat(readme).contains("`" + name + "`"));
    }
}
