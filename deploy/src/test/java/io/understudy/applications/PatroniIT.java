package io.understudy.applications;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** Patroni and PostgreSQL, as Debian packages them, elect and configure themselves through gateways. */
@EnabledIfSystemProperty(named = "understudy.schedule", matches = "long")
@Timeout(600)
final class PatroniIT {

    private static final Path SCRIPT = Path.of("src/test/acceptance/patroni").toAbsolutePath();

    /** How the script says that a program it needs is not here. */
    private static final int MISSING = 77;

    @TempDir
    private Path folder;

    @Test
    void postgresFollowsItsLeaderWhileAVoterAndTheLeaderAreKilled() throws Exception {
        Path log = folder.resolve("log");
        Process script = new ProcessBuilder(SCRIPT.toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        assertThat(script.waitFor(8, TimeUnit.MINUTES)).isTrue();
        String told = Files.readString(log);
        Assumptions.assumeTrue(script.exitValue() != MISSING, told);
        assertThat(script.exitValue()).as(told).isZero();
        assertThat(told).contains("b takes writes", "a is back and follows", "switched over, a leads");
    }
}
