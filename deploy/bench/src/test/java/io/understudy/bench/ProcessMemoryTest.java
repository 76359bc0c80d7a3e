package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class ProcessMemoryTest {

    @Test
    void residentMemoryIsInKilobytesOf1024Bytes() {
        assertThat(ProcessMemory.residentBytes("Name:\tetcd\nVmHWM:\t   99 kB\nVmRSS:\t   12 kB\nThreads:\t9\n"))
                .isEqualTo(12 * 1024);
    }

    @Test
    void aProcessWithoutMemoryIsNone() {
        assertThatThrownBy(() -> ProcessMemory.residentBytes("Name:\tkthreadd\n"))
                .isInstanceOf(BenchException.class);
    }

    @Test
    void thisProcessHasMemory() {
        assertThat(ProcessMemory.residentBytes(ProcessHandle.current().pid())).isGreaterThan(1 << 20);
    }
}
