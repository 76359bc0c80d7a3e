package io.understudy.bench.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.bench.BenchException;
import io.understudy.bench.Figure;
import org.junit.jupiter.api.Test;

final class ProducerToolTest {

    @Test
    void theResultIsTheLineWithPercentiles() {
        assertThat(ProducerTool.figures("""
                        500 records sent, 99.8 records/sec (0.05 MB/sec), 5.1 ms avg latency, 40.0 ms max latency.
                        1000 records sent, 2000.000000 records/sec (0.49 MB/sec), 5.04 ms avg latency, 57.00 ms max \
                        latency, 3 ms 50th, 12 ms 95th, 48 ms 99th, 57 ms 99.9th.
                        """))
                .containsEntry(Figure.CHANGES_PER_SECOND, 2000.0)
                .containsEntry(Figure.MEGABYTES_PER_SECOND, ProducerTool.recordBytes() * 2000 / 1e6)
                .containsEntry(Figure.P50_MILLIS, 3.0)
                .containsEntry(Figure.P99_MILLIS, 48.0);
        assertThatThrownBy(() -> ProducerTool.figures("nothing")).isInstanceOf(BenchException.class);
    }
}
