package io.understudy.mirror.takeover;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.understudy.etcd.Credentials;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SecuredCluster;
import io.understudy.mirror.fixture.SecuredCluster.Grant;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.MirrorScope;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The home of {@code /in/} moves with the permissions that the README lists, and with fewer it stays where it is. */
@Timeout(240)
@Tag("privileges")
final class TakeOverPrivilegesIT {

    private static final Credentials MIRROR = new Credentials(SecuredCluster.MIRROR, SecuredCluster.PASSWORD);
    private static final Credentials ROOT = new Credentials(SecuredCluster.ROOT, SecuredCluster.ROOT);

    private static final Grant READ_KEYS = new Grant("READ", "/in/", "/in0");
    private static final Grant READ_MARKS = new Grant("READ", "\0understudy/", "/in/");
    private static final Grant WRITE_HOMES = new Grant("READWRITE", "\0understudy/home/", "\0understudy/home0");
    private static final Grant WRITE_KEYS = new Grant("READWRITE", "/in/", "/in0");
    private static final Grant WRITE_OURS = new Grant("READWRITE", "\0understudy/", "\0understudy0");

    private static final HandoverOptions OPTIONS = HandoverOptions.DEFAULTS
            .within(Duration.ofSeconds(20), Duration.ofSeconds(20))
            .acceptingSilentWatchers();

    @TempDir
    private Path folder;

    private SecuredCluster source;
    private SecuredCluster target;

    @BeforeEach
    void start() throws Exception {
        source = SecuredCluster.start("source", folder.resolve("source"));
        target = SecuredCluster.start("target", folder.resolve("target"));
        source.grant(READ_KEYS);
        source.grant(READ_MARKS);
        source.grant(WRITE_HOMES);
        target.grant(WRITE_KEYS);
        target.grant(WRITE_OURS);
        source.asRoot("put", "/in/a", "1");
    }

    @AfterEach
    void stop() {
        source.close();
        target.close();
    }

    @ParameterizedTest
    @EnumSource(
            value = FreezeMode.class,
            names = {"ALARM", "AUTH"})
    void switchoverAndItsUndoNeedRootAtTheSourceAndTheMirrorsUserAtTheTarget(FreezeMode freeze) {
        try (MirrorProcess mirror = Mirrors.start(settings());
                MirrorParties parties = parties(ROOT, null)) {
            awaitCopied(mirror, "/in/a");
            assertThatThrownBy(() -> switchover(parties, freeze, new Killed("freeze", true))
                            .run())
                    .isInstanceOf(Killed.KilledException.class);
            var unused = switchover(parties, freeze, HandoverListener.NONE).undo();
            source.asRoot("put", "/in/b", "2");
            awaitCopied(mirror, "/in/b");

            assertThat(switchover(parties, freeze, HandoverListener.NONE).run().loss())
                    .isEqualTo("none");
            Mirrors.awaitHomeMoved(mirror);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = FreezeMode.class,
            names = {"ALARM", "AUTH"})
    void aLesserUserFreezesNothingAndTheMirrorGoesOn(FreezeMode freeze) {
        try (MirrorProcess mirror = Mirrors.start(settings());
                MirrorParties parties = parties(null, null)) {
            awaitCopied(mirror, "/in/a");

            assertThatThrownBy(() ->
                            switchover(parties, freeze, HandoverListener.NONE).run())
                    .isInstanceOf(TakeOverException.class)
                    .hasMessageContaining("source")
                    .hasMessageContaining("permission denied");
            source.asRoot("put", "/in/b", "2");
            awaitCopied(mirror, "/in/b");
            assertThat(source.asRoot("role", "get", SecuredCluster.MIRROR)).contains("understudy/home/");
        }
    }

    @Test
    void withoutAFreezeTheMirrorsUsersAreEnough() {
        try (MirrorProcess mirror = Mirrors.start(settings());
                MirrorParties parties = parties(null, null)) {
            awaitCopied(mirror, "/in/a");
            assertThat(switchover(parties, FreezeMode.NONE, HandoverListener.NONE)
                            .run()
                            .loss())
                    .startsWith("not known");
            Mirrors.awaitHomeMoved(mirror);
        }
    }

    @Test
    void aFailoverNeedsTheMirrorsUserAtTheTarget() throws Exception {
        try (MirrorProcess mirror = Mirrors.start(settings())) {
            awaitCopied(mirror, "/in/a");
        }
        source.close();
        target.revoke(WRITE_OURS);
        try (MirrorParties parties = parties(null, null)) {
            assertThatThrownBy(() -> failover(parties).run())
                    .isInstanceOf(TakeOverException.class)
                    .hasMessageContaining("target")
                    .hasMessageContaining("permission denied");
            target.grant(WRITE_OURS);
            assertThat(failover(parties).run().loss()).startsWith("possible");
        }
    }

    @Test
    void aFailbackNeedsRootOnBothSidesAndTheMirrorsUsersInEachOthersPlace() throws Exception {
        try (MirrorProcess mirror = Mirrors.start(settings());
                MirrorParties parties = parties(ROOT, null)) {
            awaitCopied(mirror, "/in/a");
            assertThat(switchover(parties, FreezeMode.ALARM, HandoverListener.NONE)
                            .run()
                            .loss())
                    .isEqualTo("none");
        }
        target.asRoot("put", "/in/b", "written at the new home");
        assertFailbackIsDenied(null, ROOT);
        // Without these the mirror back can neither read nor write.
        assertFailbackIsDenied(ROOT, ROOT);
        source.grant(WRITE_KEYS);
        source.grant(WRITE_OURS);
        assertFailbackIsDenied(ROOT, ROOT);
        target.grant(READ_MARKS);
        // The freeze at the target.
        assertFailbackIsDenied(ROOT, null);
        assertThat(target.asRoot("put", "/in/c", "still written there")).contains("OK");

        try (MirrorParties parties = parties(ROOT, ROOT)) {
            assertThat(failback(parties).run().loss()).isEqualTo("none");
        }
        assertThat(source.asRoot("get", "--prefix", "/in/")).contains("new home", "still written there");
    }

    private void assertFailbackIsDenied(@Nullable Credentials sourceUser, @Nullable Credentials targetUser) {
        try (MirrorParties parties = parties(sourceUser, targetUser)) {
            assertThatThrownBy(() -> failback(parties).run())
                    .isInstanceOf(TakeOverException.class)
                    .hasMessageContaining("permission denied");
        }
    }

    private static Handover switchover(MirrorParties parties, FreezeMode freeze, HandoverListener listener) {
        return Handover.switchover(parties.forward(), OPTIONS.with(freeze), listener);
    }

    private static Handover failover(MirrorParties parties) {
        return Handover.failover(parties.forward(), OPTIONS, HandoverListener.NONE);
    }

    private static Failback failback(MirrorParties parties) {
        return new Failback(parties, OPTIONS, PATIENCE, HandoverListener.NONE, report -> {});
    }

    private MirrorParties parties(@Nullable Credentials sourceUser, @Nullable Credentials targetUser) {
        return new MirrorParties(settings(), sourceUser, targetUser, OPTIONS.patience());
    }

    private MirrorSettings.Mirror settings() {
        return new MirrorSettings.Mirror(
                "dr",
                MirrorSettings.Source.Etcd.of(Mirrors.settings(source.etcd()).withLogin(MIRROR)),
                new MirrorScope(
                        List.of(ByteString.copyFromUtf8("/in/")), List.of(), ByteString.EMPTY, ByteString.EMPTY),
                MirrorSettings.Target.Etcd.of(
                        Mirrors.settings(target.etcd()).withLogin(MIRROR),
                        EtcdSinkOptions.DEFAULTS
                                .withProgressInterval(Duration.ofMillis(100))
                                .withMaxPrunePercent(100)));
    }

    private void awaitCopied(MirrorProcess mirror, String key) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            MirrorReport report = mirror.reports().get(0);
            assertThat(report.state()).as(report.toString()).isEqualTo(MirrorState.SYNCED);
            assertThat(target.asRoot("get", key)).as(report.toString()).contains(key);
        });
    }
}
