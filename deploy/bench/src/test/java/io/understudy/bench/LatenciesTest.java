package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class LatenciesTest {

    @Test
    void aPercentileIsTheTimeWithinWhichSoManyWereAnswered() {
        Latencies hundred = Latencies.of(
                LongStream.rangeClosed(1, 100).map(i -> (101 - i) * 1_000).toArray());

        assertThat(hundred.millis(0.5)).isEqualTo(50);
        assertThat(hundred.millis(0.99)).isEqualTo(99);
        assertThat(hundred.millis(1)).isEqualTo(100);
    }

    @Test
    void oneRequestIsAllPercentiles() {
        assertThat(Latencies.of(new long[] {1_500}).millis(0.5)).isEqualTo(1.5);
    }

    @Test
    void noRequestsHaveNone() {
        assertThatThrownBy(() -> Latencies.of(new long[0])).isInstanceOf(IllegalArgumentException.class);
    }
}
