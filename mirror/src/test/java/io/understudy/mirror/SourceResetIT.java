package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static io.understudy.mirror.fixture.Mirrors.awaitFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.Event;
import io.understudy.config.Binder;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.etcd.EtcdSinkOptions.SourceReset;
import io.understudy.mirror.etcd.EtcdSinkOptions.TargetHistory;
import io.understudy.mirror.fixture.Leases;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.lease.LeaseMode;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.settings.MirrorSettings;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * The source is no longer what was mirrored: nothing is changed in the target unless that is configured.
 *
 * <p>Tests invariants M17, M18.
 */
final class SourceResetIT {

    private static final EtcdSinkOptions RESYNC = EtcdSinkOptions.DEFAULTS.with(SourceReset.RESYNC);
    private static final EtcdSinkOptions LEASES = EtcdSinkOptions.DEFAULTS.with(LeaseMode.TTL);

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    @TempDir
    Path folder;

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();

    /** Fifty keys in a backup; since then one is changed and ten more are there; all of it mirrored. */
    @BeforeEach
    void mirrorMoreThanTheBackupHolds() {
        IntStream.range(0, 50).forEach(i -> source.put(String.format("/k/%02d", i), "1"));
        CLUSTERS.source().snapshot(folder.resolve("backup"));
        source.put("/k/07", "2");
        IntStream.range(0, 10).forEach(i -> source.put("/new/" + i, "1"));
        try (MirrorProcess mirror = start(EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
        }
    }

    @Test
    void aBackupBehindTheTargetStopsTheMirrorWithADiffReport() throws Exception {
        restore();
        assertStopsWithADiffReport("10 (such as \"/new/0\"", "1 (such as \"/k/07\"");
    }

    @Test
    void aBackupWithNewerChangesStopsTheMirrorWithADiffReport() throws Exception {
        restore();
        IntStream.range(0, 30).forEach(i -> source.put("/k/49", "other " + i));
        assertStopsWithADiffReport("10 (such as \"/new/0\"", "2 (such as \"/k/07\", \"/k/49\"");
    }

    @Test
    @Tag("variants")
    void aBackupBehindTheTargetStopsAMirrorWithLeases() throws Exception {
        restore();
        assertStopsWithADiffReport(LEASES, "10 (such as \"/new/0\"", "1 (such as \"/k/07\"");
    }

    @Test
    void keysWithLeasesOfABackupWithNewerChangesAreNotRestored() throws Exception {
        restore();
        try (Leases owner = Leases.of(CLUSTERS.source().leader())) {
            owner.put("/leased", "1", owner.grant(60));
            IntStream.range(0, 30).forEach(i -> source.put("/k/49", "other " + i));
            assertStopsWithADiffReport(LEASES, "10 (such as \"/new/0\"", "3 (such as \"/k/07\"");
        }
    }

    @Test
    void aCompactedBackupWithNewerChangesStopsTheMirrorWithADiffReport() throws Exception {
        restoreWithNewerChangesAndCompact();
        assertStopsWithADiffReport("10 (such as \"/new/0\"", "2 (such as \"/k/07\", \"/k/49\"");
    }

    @Test
    void resyncCopiesACompactedBackupWithNewerChanges() {
        restoreWithNewerChangesAndCompact();
        try (MirrorProcess mirror = start(RESYNC.withMaxPrunePercent(20))) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    @Test
    void aCompactedSourceIsNoReset() {
        source.put("/k/08", "2");
        source.delete("/k/09");
        compact(source.put("/k/10", "2"));
        try (MirrorProcess mirror = start(EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    /** A comparison would have stopped it at the foreign write in the target. */
    @Test
    void aSourceThatIsFarAheadInTheSameHistory_isCopiedAtOnce() {
        target.put("/k/03", "by somebody else");
        source.delete("/k/09");
        IntStream.range(0, 30).forEach(i -> source.put("/k/49", "far " + i));
        try (MirrorProcess mirror = farBehindAfterTen(EtcdSinkOptions.DEFAULTS)) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    @Test
    void aSourceThatIsFarAhead_isReplayedWithEveryCommit() throws Exception {
        long before = target.revision();
        source.delete("/k/49");
        IntStream.range(0, 30).forEach(i -> source.put("/k/49", "far " + i));
        try (MirrorProcess mirror = farBehindAfterTen(EtcdSinkOptions.DEFAULTS.with(TargetHistory.EVERY_COMMIT))) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(target.watch(before + 1, target.revision()))
                .filteredOn(event -> event.getKv().getKey().equals(ByteString.copyFromUtf8("/k/49")))
                .extracting(Event::getType)
                .hasSize(31)
                .startsWith(Event.EventType.DELETE, Event.EventType.PUT);
    }

    private static MirrorProcess farBehindAfterTen(EtcdSinkOptions options) {
        return Mirrors.start(new MirrorSettings.Mirror(
                "dr",
                new MirrorSettings.Source.Etcd(
                        Mirrors.settings(CLUSTERS.source()),
                        Binder.with(EtcdFeedOptions.DEFAULTS, "catchUpRevisions", 10L),
                        true),
                MirrorScope.all(),
                MirrorSettings.Target.Etcd.of(Mirrors.settings(CLUSTERS.target()), options)));
    }

    @Test
    void aWipedSourceStopsTheMirrorWithADiffReport() throws Exception {
        CLUSTERS.source().stop();
        CLUSTERS.source().members().forEach(EtcdMember::wipe);
        CLUSTERS.source().start();
        assertStopsWithADiffReport("60 (such as \"/k/00\"", "would put 0.");
    }

    @Test
    void resyncCopiesABackupRestoredWhileTheMirrorRuns() {
        try (MirrorProcess mirror = start(RESYNC.withMaxPrunePercent(20))) {
            awaitCaughtUp(mirror, source);
            restore();
            source.put("/after", "1");
            awaitEqual();
            source.put("/after", "2");
            source.delete("/k/01");
            awaitEqual();
            assertThat(mirror.reports().get(0).state()).isEqualTo(MirrorState.SYNCED);
        }
    }

    @Test
    @Tag("variants")
    void resyncStopsAtTheDeleteLimitAgainAfterARestart() throws Exception {
        restore();
        for (int again = 0; again < 2; again++) {
            try (MirrorProcess mirror = start(RESYNC)) {
                assertThat(awaitFailure(mirror)).hasMessageContaining("would delete 10 of 60 keys");
            }
            assertThat(target.contents()).hasSize(60);
        }
        try (MirrorProcess mirror = start(RESYNC.withMaxPrunePercent(20))) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    /** By contents: the other history's revisions don't show the mirror's progress. */
    private void awaitEqual() {
        await().atMost(Mirrors.PATIENCE)
                .untilAsserted(() -> assertThat(target.contents()).isEqualTo(source.contents()));
    }

    private void restoreWithNewerChangesAndCompact() {
        restore();
        for (int i = 0; i < 30; i++) {
            source.put("/k/49", "other " + i);
        }
        compact(source.put("/k/49", "other"));
    }

    private void compact(long revision) {
        var unused = source.kv()
                .compact(CompactionRequest.newBuilder().setRevision(revision).build());
    }

    private void restore() {
        CLUSTERS.source().restore(folder.resolve("backup"));
    }

    private void assertStopsWithADiffReport(String deletes, String puts) throws Exception {
        assertStopsWithADiffReport(EtcdSinkOptions.DEFAULTS, deletes, puts);
    }

    private void assertStopsWithADiffReport(EtcdSinkOptions options, String deletes, String puts) throws Exception {
        SortedMap<ByteString, ByteString> before = target.contents();
        try (MirrorProcess mirror = start(options)) {
            assertThat(awaitFailure(mirror))
                    .hasMessageContaining("restored from a backup")
                    .hasMessageContaining("Nothing was changed. Of 60 keys")
                    .hasMessageContaining(deletes)
                    .hasMessageContaining(puts)
                    .hasMessageContaining("set onSourceReset to resync");
        }
        assertThat(target.contents()).isEqualTo(before);
    }

    private static MirrorProcess start(EtcdSinkOptions options) {
        return CLUSTERS.mirror(MirrorScope.all(), options);
    }
}
