package io.understudy.local.process;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With a script in place of a server. */
final class LastingProcessesTest {

    private static final int LOOKS = 300;

    @TempDir
    private Path folder;

    @Test
    void aServerIsFoundWhileItExecutesAnotherProgram() throws IOException {
        Path script = Files.writeString(folder.resolve("server"), """
                #!/bin/sh
                exec "$0" "$@"
                """);
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        ServerProcess server = afterARestart(script);
        server.start();
        try {
            for (int look = 0; look < LOOKS; look++) {
                assertThat(server.isAlive()).isTrue();
                assertThat(afterARestart(script).isAlive()).isTrue();
            }
        } finally {
            server.kill();
        }
        assertThat(afterARestart(script).isAlive()).isFalse();
    }

    private ServerProcess afterARestart(Path program) {
        String own = "--data-dir=" + folder;
        return new LastingProcesses(List.of("--data-dir="))
                .prepare(new ServerCommand(
                        "server", program, List.of(own), Map.of(), folder, folder.resolve("server.log")));
    }
}
