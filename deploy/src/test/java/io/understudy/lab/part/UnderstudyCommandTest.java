package io.understudy.lab.part;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.local.process.ServerCommand;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class UnderstudyCommandTest {

    private final UnderstudyCommand command = new UnderstudyCommand(Path.of("/opt/bin/understudy"), List.of("-x"));

    @Test
    void theProgramRunsWithItsOwnArgumentsBeforeTheSubCommand() {
        assertThat(running(Map.of()).arguments())
                .containsExactly("/opt/bin/understudy", "-x", "gateway", "--config", "f");
    }

    @Test
    void theUsersSettingsOfOtherGatewaysDoNotReachTheLabs() {
        ServerCommand running = running(Map.of(
                "UNDERSTUDY_SOURCE_ENDPOINTS",
                "http://elsewhere:2379",
                "UNDERSTUDY_LOG_LEVEL",
                "debug",
                "PATH",
                "/bin"));

        assertThat(running.arguments())
                .startsWith("-u", "UNDERSTUDY_SOURCE_ENDPOINTS", "/opt/bin/understudy")
                .doesNotContain("UNDERSTUDY_LOG_LEVEL", "PATH");
    }

    @Test
    void theUsersJvmOptionsComeLastAndSoWin() {
        assertThat(running(Map.of("UNDERSTUDY_JAVA_OPTS", "-Xmx2g")).environment())
                .containsEntry("UNDERSTUDY_JAVA_OPTS", "-Xmx512m -Xmx2g");
    }

    private ServerCommand running(Map<String, String> variables) {
        return command.running("gateway", Path.of("/data"), "-Xmx512m", variables, "gateway", "--config", "f");
    }
}
