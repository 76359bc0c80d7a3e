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
 * Members of an older etcd, as Debian packages it, become members of the newest patch of it, and of the next minors, and
 * return to the one before the last, while clients put and watch through a gateway and a mirror copies.
 *
 * <p>Tests invariant DP15.
 */
@EnabledIfSystemProperty(named = "understudy.schedule", matches = "long")
@Timeout(600)
@Tag("distribution")
final class UpgradeIT {

    @TempDir
    private Path folder;

    @Test
    void membersAreUpgradedOneByOneAndNothingAcknowledgedIsLost() throws Exception {
        assertThat(AcceptanceScript.run("upgrade", folder, Duration.ofMinutes(9)))
                .contains(
                        "the configured program of m3 has version 3.5.16",
                        "done: every member has version 3.6.",
                        " 0 missing, 0 repeated, not interrupted",
                        " 0 lost");
    }
}
