package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.bench.CpuMeter.CpuReading;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class CpuReadingTest {

    private static final long SECOND = 1_000_000_000;

    private final CpuReading before = new CpuReading(0, Map.of(ProcessRole.GATEWAY, 5_000L, ProcessRole.VOTERS, 100L));
    private final CpuReading after =
            new CpuReading(2 * SECOND, Map.of(ProcessRole.GATEWAY, 45_000L, ProcessRole.VOTERS, 8_100L));

    @Test
    void aRateIsPerSecond() {
        assertThat(after.rateSince(before))
                .isEqualTo(Map.of(ProcessRole.GATEWAY, 20_000.0, ProcessRole.VOTERS, 4_000.0));
    }

    @Test
    void whatIsUsedWhenIdleIsNoCostOfRequests() {
        assertThat(after.usedSince(before, Map.of(ProcessRole.GATEWAY, 1_000.0, ProcessRole.VOTERS, 4_000.0)))
                .isEqualTo(Map.of(ProcessRole.GATEWAY, 38_000.0, ProcessRole.VOTERS, 0.0));
    }
}
