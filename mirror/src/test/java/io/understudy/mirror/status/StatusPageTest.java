package io.understudy.mirror.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.health.HealthPages;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import java.time.Instant;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

final class StatusPageTest {

    @Test
    void aStartingProcessIsAliveButNotReady() {
        HealthPages health = StatusPage.health(List.of());
        assertThat(health.ready().problem()).hasValue("process: mirrors are starting");
        assertThat(health.live().problem()).isEmpty();
    }

    /** Of two primaries, neither is replicated; a restart would not resolve that. */
    @Test
    void aConflictIsAliveButNotReadyAndAStandbyIsReady() {
        HealthPages conflict =
                StatusPage.health(List.of(report(MirrorState.CONFLICT, "both clusters are the primary")));
        assertThat(conflict.ready().problem()).hasValue("dr: conflict: both clusters are the primary");
        assertThat(conflict.live().problem()).isEmpty();
        HealthPages standby = StatusPage.health(List.of(report(MirrorState.STANDBY, "a command is at work")));
        assertThat(standby.ready().problem()).isEmpty();
    }

    private static MirrorReport report(MirrorState state, String reason) {
        return new MirrorReport(
                "dr",
                "source",
                "target",
                state,
                reason,
                Instant.EPOCH,
                null,
                0,
                OptionalLong.empty(),
                OptionalLong.empty(),
                0,
                0,
                0,
                0,
                null,
                null,
                null);
    }
}
