package io.understudy.applications;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** The packages for dpkg and rpm, from installation to removal, under a real systemd. */
@EnabledIfSystemProperty(named = "understudy.schedule", matches = "long")
@Timeout(600)
@Tag("distribution")
final class PackagesIT {

    @TempDir
    private Path folder;

    @Test
    void packagesAreInstalledStartedUpgradedAndRemoved() throws Exception {
        assertThat(AcceptanceScript.run("packages", folder, Duration.ofMinutes(9)))
                .contains("deb: gateway restarted by the upgrade", "deb: removed", "deb: purged")
                .containsAnyOf("rpm: removed", "rpm: skipped");
    }
}
