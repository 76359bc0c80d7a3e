package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

final class SuperviseCommandTest {

    @TempDir
    private Path folder;

    /** Else it would remove the voting members that exceed the default. */
    @Test
    void aSupervisorNeedsTheNumberOfVotingMembers() throws IOException {
        Path file = Files.writeString(folder.resolve("cluster.yaml"), """
                cluster: {endpoints: 'http://127.0.0.1:1'}
                shape: {standbys: 0}
                """);
        StringWriter err = new StringWriter();
        CommandLine command = Understudy.commandLine("cluster", "supervise").setErr(new PrintWriter(err));

        assertThat(command.execute("cluster", "supervise", "--config=" + file)).isEqualTo(2);
        assertThat(err.toString())
                .contains("shape.voters is missing in " + file + "; a supervisor needs the number of voting members: an"
                        + " odd number from 1 to 7");
    }
}
