package io.understudy.applications;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * A core cluster of units of a real systemd, under the archive's hardened units.
 *
 * <p>Tests invariant DP16.
 */
@EnabledIfSystemProperty(named = "understudy.schedule", matches = "long")
@Timeout(600)
@Tag("distribution")
final class SystemdIT {

    @TempDir
    private Path folder;

    @Test
    void unitsAreInstalledGrownHealedRecoveredAndRestored() throws Exception {
        assertThat(AcceptanceScript.run("systemd", folder, Duration.ofMinutes(9)))
                .contains(
                        "standby took the place of the dead", "next: understudy cluster status", "3 voters, 3 healthy");
    }
}
