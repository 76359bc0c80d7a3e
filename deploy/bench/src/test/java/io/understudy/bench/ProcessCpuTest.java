package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class ProcessCpuTest {

    @Test
    void userAndSystemTimeAreAddedWhateverTheNameHolds() {
        String stat = "4242 (a (strange) name) S 1 4242 4242 0 -1 4194560 2231 0 1 0 150 25 7 9 20 0 12 0 8123456";

        assertThat(ProcessCpu.micros(stat)).isEqualTo((150 + 25) * 10_000);
    }

    @Test
    void aRunningProcessHasUsedSome() {
        assertThat(ProcessCpu.micros(ProcessHandle.current().pid())).isPositive();
    }

    @Test
    void compilersAreAPartOfTheirJvm() {
        long pid = ProcessHandle.current().pid();

        long compilers = ProcessCpu.compilerMicros(pid);

        assertThat(compilers).isPositive().isLessThan(ProcessCpu.micros(pid));
    }

    @Test
    void aProcessThatIsGoneIsNamed() {
        assertThatThrownBy(() -> ProcessCpu.micros(Integer.MAX_VALUE))
                .isInstanceOf(BenchException.class)
                .hasMessageContaining("/proc/" + Integer.MAX_VALUE);
    }
}
