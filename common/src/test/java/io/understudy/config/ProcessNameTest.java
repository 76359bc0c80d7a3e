package io.understudy.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class ProcessNameTest {

    @Test
    void namesHostAndProcessAndIsNeverTheSame() {
        String name = ProcessName.unique();

        assertThat(name)
                .startsWith(ProcessName.host().orElseThrow() + "/"
                        + ProcessHandle.current().pid() + "/")
                .isNotEqualTo(ProcessName.unique());
    }

    @Test
    void theHostIsCalledAsTheKernelCallsIt() throws IOException {
        assertThat(ProcessName.host())
                .contains(Files.readString(Path.of("/proc/sys/kernel/hostname")).strip());
    }
}
