package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.bench.ReadBenchSettings.EqualLoad;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class EqualLoadTest {

    @Test
    void aShareIsOfTheSlowestPath() {
        assertThat(EqualLoad.parse("50%").pace(3_000)).isEqualTo(new Pace(1_500));
    }

    @Test
    void aBareNumberIsRequestsPerSecond() {
        assertThat(EqualLoad.parse("20000").pace(3_000)).isEqualTo(new Pace(20_000));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "0%"})
    void zeroIsNoComparison(String text) {
        assertThat(EqualLoad.parse(text).isNone()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "half", "-1", "1.5", "50 %"})
    void anythingElseIsRefused(String text) {
        assertThatThrownBy(() -> EqualLoad.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + text + "'");
    }

    @Test
    void atAPaceRequestsAreSpreadEvenly() {
        assertThat(new Pace(200).dueNanos(3)).isEqualTo(15_000_000);
        assertThat(Pace.FULL.dueNanos(3)).isZero();
    }
}
