package io.understudy.mirror.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.mirror.pipeline.MirrorReport.SnapshotProgress;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

final class SnapshotMeterTest {

    private final SnapshotMeter meter = new SnapshotMeter("dr");

    @Test
    void reportsRateAndRemainingTimeOnceTheTotalIsKnown() {
        CompletableFuture<Long> total = new CompletableFuture<>();
        assertThat(meter.report()).isNull();
        meter.started(total);
        meter.copied(50);
        assertThat(meter.report().total()).isEmpty();
        assertThat(meter.report().remainingMillis()).isEmpty();
        total.complete(200L);
        SnapshotProgress progress = meter.report();
        assertThat(progress.keys()).isEqualTo(50);
        assertThat(progress.total()).hasValue(200);
        assertThat(progress.keysPerSecond()).isPositive();
        assertThat(progress.remainingMillis()).hasValue(Math.round(150 / progress.keysPerSecond() * 1_000));
    }

    @Test
    void neverReportsMoreThanTheTotal() {
        meter.started(CompletableFuture.completedFuture(10L));
        meter.copied(12);
        assertThat(meter.report().total()).hasValue(12);
        assertThat(meter.report().remainingMillis()).hasValue(0);
    }

    @Test
    void continuesWithoutATotalThatCouldNotBeRead() {
        meter.started(CompletableFuture.failedFuture(new IllegalStateException("away")));
        meter.copied(12);
        assertThat(meter.report().keys()).isEqualTo(12);
        assertThat(meter.report().total()).isEmpty();
        meter.ended();
        assertThat(meter.report()).isNull();
    }
}
