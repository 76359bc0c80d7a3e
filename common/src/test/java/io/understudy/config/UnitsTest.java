package io.understudy.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class UnitsTest {

    @ParameterizedTest
    @CsvSource({"200ms,200", "5s,5000", "1m30s,90000", "2h,7200000", "1d,86400000", "0,0", "0s,0"})
    void readsDurations(String text, long millis) {
        assertThat(Units.parseDuration(text)).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "5", "5 s", "s", "-5s", "1.5s", "5sec", "1s5"})
    void refusesDurationsWithoutAUnitOrWithAnother(String text) {
        assertThatThrownBy(() -> Units.parseDuration(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({"0,0", "17,17", "17B,17", "64KiB,65536", "1 MiB,1048576", "2TiB,2199023255552"})
    void readsBytes(String text, long bytes) {
        assertThat(Units.parseBytes(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "64MB", "64M", "1.5MiB", "-1", "MiB", "999999999999TiB"})
    void refusesBytesThatCouldBeMisread(String text) {
        assertThatThrownBy(() -> Units.parseBytes(text)).isInstanceOf(RuntimeException.class);
    }

    @Property
    void whatIsWrittenIsReadAgain(@ForAll @LongRange(min = 0, max = 1L << 45) long amount) {
        assertThat(Units.parseDuration(Units.print(Duration.ofMillis(amount % (1L << 40)))))
                .isEqualTo(Duration.ofMillis(amount % (1L << 40)));
        assertThat(Units.parseBytes(Units.print(amount % (1L << 39)))).isEqualTo(amount % (1L << 39));
    }
}
