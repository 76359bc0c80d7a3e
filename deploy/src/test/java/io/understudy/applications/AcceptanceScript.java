package io.understudy.applications;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** A script of {@code src/test/acceptance}, which tells what it saw. */
final class AcceptanceScript {

    private static final Path SCRIPTS = Path.of("src/test/acceptance").toAbsolutePath();

    /** How a script says that a program or a privilege it needs is not here. */
    private static final int MISSING = 77;

    private AcceptanceScript() {}

    /**
     * Runs one to its end; the test is skipped where something is missing.
     *
     * @param folder for what it tells
     * @return what it told
     */
    static String run(String name, Path folder, Duration deadline) throws IOException, InterruptedException {
        Path log = folder.resolve("log");
        Process script = new ProcessBuilder(SCRIPTS.resolve(name).toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            boolean ended = script.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS);
            assertThat(ended).as(Files.readString(log)).isTrue();
        } finally {
            // Its own way to tidy up is by this signal.
            script.destroy();
        }
        String told = Files.readString(log);
        Assumptions.assumeTrue(script.exitValue() != MISSING, told);
        assertThat(script.exitValue()).as(told).isZero();
        return told;
    }
}
