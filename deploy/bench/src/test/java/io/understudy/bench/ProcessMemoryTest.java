package io.understudy.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

final class ProcessMemoryTest {

    @Test
    void memoryIsInKilobytesOf1024Bytes() {
        String status = "Name:\tetcd\nVmHWM:\t   99 kB\nVmRSS:\t   12 kB\nThreads:\t9\n";
        assertThat(ProcessMemory.bytes("VmRSS", status)).isEqualTo(12 * 1024);
        assertThat(ProcessMemory.bytes("VmHWM", status)).isEqualTo(99 * 1024);
    }

    @Test
    void aProcessWithoutMemoryIsNone() {
        assertThatThrownBy(() -> ProcessMemory.bytes("VmRSS", "Name:\tkthreadd\n"))
                .isInstanceOf(BenchException.class);
    }

    @Test
    void thisProcessHasMemory() {
        long pid = ProcessHandle.current().pid();
        assertThat(ProcessMemory.residentBytes(pid)).isBetween(1L << 20, ProcessMemory.peakBytes(pid));
    }
}
