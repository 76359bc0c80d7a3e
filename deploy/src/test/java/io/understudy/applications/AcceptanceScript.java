package io.understudy.applications;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Runs a script of {@code src/test/acceptance}. */
final class AcceptanceScript {

    private static final Path SCRIPTS = Path.of("src/test/acceptance").toAbsolutePath();

    /** The exit status of a script without a program or a privilege that it needs. */
    private static final int MISSING = 77;

    private AcceptanceScript() {}

    /**
     * Runs one to its end; the test is skipped where something is missing.
     *
     * @param folder for its output
     * @return its output
     */
    static String run(String name, Path folder, Duration deadline, String... arguments)
            throws IOException, InterruptedException {
        Path log = folder.resolve("log");
        List<String> command = new ArrayList<>(List.of(SCRIPTS.resolve(name).toString()));
        command.addAll(List.of(arguments));
        Process script = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            boolean ended = script.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS);
            assertThat(ended).as(Files.readString(log)).isTrue();
        } finally {
            // Scripts clean up on this signal, also those that another one runs.
            script.descendants().forEach(ProcessHandle::destroy);
            script.destroy();
        }
        String output = Files.readString(log);
        Assumptions.assumeTrue(script.exitValue() != MISSING, output);
        assertThat(script.exitValue()).as(output).isZero();
        return output;
    }
}
