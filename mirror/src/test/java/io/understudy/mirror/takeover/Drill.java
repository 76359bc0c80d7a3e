package io.understudy.mirror.takeover;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.auth.AuthOptions;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.verify.VerifyOptions;
import java.time.Duration;

/** Moves the home of a mirror's keys to the target and back. One thread. */
record Drill(MirrorSettings.Mirror settings, MirrorParties clusters, TestClient source, TestClient target)
        implements AutoCloseable {

    /** Whatever the revisions are. */
    static final HandoverOptions OPTIONS = HandoverOptions.DEFAULTS
            .within(Duration.ofSeconds(30), Duration.ofSeconds(20))
            .acceptingSilentWatchers();

    /** That of mirror {@code dr}, of all keys. */
    static Drill of(SourceAndTarget clusters, int maxPrunePercent) {
        return of(clusters, maxPrunePercent, VerifyOptions.DEFAULTS);
    }

    static Drill of(SourceAndTarget clusters, int maxPrunePercent, VerifyOptions verify) {
        MirrorSettings.Mirror settings = new MirrorSettings.Mirror(
                "dr",
                MirrorSettings.Source.Etcd.of(Mirrors.settings(clusters.source())),
                MirrorScope.all(),
                new MirrorSettings.Target.Etcd(
                        Mirrors.settings(clusters.target()),
                        EtcdSinkOptions.DEFAULTS
                                .withProgressInterval(Duration.ofMillis(100))
                                .withMaxPrunePercent(maxPrunePercent),
                        verify,
                        null,
                        MirrorSettings.Target.Etcd.ACTIVE_TTL,
                        AuthOptions.DEFAULTS));
        return new Drill(
                settings,
                new MirrorParties(settings, null, null, OPTIONS.patience()),
                clusters.sourceClient(),
                clusters.targetClient());
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

    /** Whether a failback would be refused. */
    void check() {
        Failback failback = failback();
        failback.check(failback.survey());
    }

    Failback failback() {
        return failback(HandoverListener.NONE);
    }

    Failback failback(HandoverListener listener) {
        return failback(OPTIONS, listener);
    }

    Failback failback(HandoverOptions options, HandoverListener listener) {
        return new Failback(clusters, options, Duration.ofSeconds(60), listener, report -> {});
    }

    /** Both clusters are equal, and the mirror goes on from there. */
    void assertEqualAndMirrored() {
        assertThat(target.contents()).isEqualTo(source.contents());
        long before = target.revision();
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCaughtUp(mirror, source);
            source.put("/mirrored", "again " + before);
            awaitCaughtUp(mirror, source);
            assertThat(target.contents()).isEqualTo(source.contents());
        }
        assertThat(target.writtenSince(before))
                .as("only the last put was mirrored")
                .isEqualTo(1);
    }

    /** Disconnects; the clusters can be written again, for the next test. */
    @Override
    public void close() {
        clusters.close();
        source.thaw();
        target.thaw();
    }
}
