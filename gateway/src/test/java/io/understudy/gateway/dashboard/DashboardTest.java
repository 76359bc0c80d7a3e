package io.understudy.gateway.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.gateway.member.StatusReport;
import io.understudy.health.HealthChecks;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.Iterator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class DashboardTest {

    @Test
    void aSampleHasTheExtremesOfTheStalenessBetweenItAndThePreviousOne() {
        Iterator<Long> staleness =
                LongStream.iterate(10, last -> last == 10 ? 200 : 10).iterator();
        try (Dashboard dashboard = dashboard(staleness)) {
            dashboard.start();
            await().untilAsserted(() -> {
                JsonObject series =
                        new JsonObject(Buffer.buffer(dashboard.samples(0).join())).getJsonObject("series");
                assertThat(series.getJsonArray("staleness_ms.min")).contains(10.0);
                assertThat(series.getJsonArray("staleness_ms.max")).contains(200.0);
                assertThat(series.getJsonArray("staleness_ms").stream().map(Double.class::cast))
                        .anySatisfy(mean -> assertThat(mean).isBetween(50.0, 160.0));
            });
        }
    }

    private static Dashboard dashboard(Iterator<Long> stalenessMillis) {
        return new Dashboard(
                DashboardSettings.DEFAULTS,
                new DashboardSources(
                        new StatusReport(
                                "test",
                                "1",
                                "2",
                                "kafka",
                                new HealthChecks(),
                                () -> new StatusReport.Held("", 1, 1, 1, Duration.ofMillis(stalenessMillis.next()))),
                        "topic",
                        () -> null,
                        () -> Duration.ZERO,
                        () -> 0,
                        () -> 0),
                new SimpleMeterRegistry());
    }
}
