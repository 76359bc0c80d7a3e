package io.understudy.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests invariant ME1. */
final class ProcessMetricsTest {

    @Test
    void aPageHasTheJvmAndEveryMeterOfTheProcessWithItsTag() {
        try (ProcessMetrics metrics = new ProcessMetrics("gateway", "1.2.3")) {
            metrics.registry()
                    .counter("understudy.gateway.requests", "outcome", "ok")
                    .increment();

            ProcessMetrics.Scrape page = metrics.scrape(null);

            assertThat(page.contentType()).isEqualTo("text/plain; version=0.0.4; charset=utf-8");
            assertThat(page.body())
                    .contains("understudy_gateway_requests_total{outcome=\"ok\",process=\"gateway\"} 1.0")
                    .contains("understudy_build{process=\"gateway\",version=\"1.2.3\"} 1.0")
                    .contains("jvm_memory_used_bytes{")
                    .contains("process_uptime_seconds{");
        }
    }

    /** {@code etcdctl check datascale} takes the rest of such a line as a number. */
    @Test
    void theResidentMemoryHasNoTags() {
        try (ProcessMetrics metrics = new ProcessMetrics("gateway", "1.2.3")) {
            String line = metrics.scrape(null)
                    .body()
                    .lines()
                    .filter(each -> each.startsWith("process_resident_memory_bytes"))
                    .findFirst()
                    .orElseThrow();

            assertThat(Double.parseDouble(line.substring("process_resident_memory_bytes".length())))
                    .isGreaterThan(1 << 20);
        }
    }

    @Test
    void openMetricsIsReturnedOnRequestOnly() {
        try (ProcessMetrics metrics = new ProcessMetrics("mirror", "1")) {
            ProcessMetrics.Scrape page =
                    metrics.scrape("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3");

            assertThat(page.contentType()).startsWith("application/openmetrics-text; version=1.0.0");
            assertThat(page.body()).endsWith("# EOF\n");
        }
    }
}
