package io.understudy.mirror.takeover;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.TestClient;
import java.time.Duration;

/** Moves the home of a mirror's keys to the target and back. One thread. */
record Drill(MirrorSettings.Mirror settings, MirrorParties clusters, TestClient source) {

    static final HandoverOptions OPTIONS = HandoverOptions.DEFAULTS
            .within(Duration.ofSeconds(30), Duration.ofSeconds(20))
            .acceptingSilentWatchers();

    static Drill of(MirrorSettings.Mirror settings, TestClient source) {
        return new Drill(settings, new MirrorParties(settings, null, null, OPTIONS.patience()), source);
    }

    Handover switchover(HandoverListener listener) {
        return Handover.switchover(clusters.forward(), OPTIONS, listener);
    }

    void switchOver() {
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCaughtUp(mirror, source);
            assertThat(switchover(HandoverListener.NONE).run().loss()).isEqualTo("none");
        }
    }

    Handover failover(HandoverOptions options) {
        return Handover.failover(clusters.forward(), options, HandoverListener.NONE);
    }

    /** Though the source answers. */
    void failOver() {
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCaughtUp(mirror, source);
        }
        var unused = failover(OPTIONS.forced()).run();
    }

    Failback failback(HandoverListener listener) {
        return new Failback(clusters, OPTIONS, Duration.ofSeconds(60), listener, report -> {});
    }
}
