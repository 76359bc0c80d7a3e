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
 * Patroni and PostgreSQL, as Debian packages them, elect and configure themselves through gateways.
 *
 * <p>Tests invariant W5.
 */
@EnabledIfSystemProperty(named = "understudy.schedule", matches = "long")
@Timeout(600)
@Tag("distribution")
final class PatroniIT {

    @TempDir
    private Path folder;

    @Test
    void postgresFollowsItsLeaderWhileAVoterEachGatewayAndTheLeaderAreKilled() throws Exception {
        assertThat(AcceptanceScript.run("patroni", folder, Duration.ofMinutes(8)))
                .contains("b takes writes", "a is back and follows", "switched over, a leads");
    }
}
