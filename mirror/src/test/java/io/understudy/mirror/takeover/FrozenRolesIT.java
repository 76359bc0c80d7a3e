package io.understudy.mirror.takeover;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.understudy.etcd.Credentials;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.auth.AuthMode;
import io.understudy.mirror.auth.AuthOptions;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SecuredCluster;
import io.understudy.mirror.fixture.ShownAuth;
import io.understudy.mirror.scope.MirrorScope;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a freeze withdraws from the source's roles the target's keep, which are to take over.
 *
 * <p>Tests invariant M14.
 */
@Timeout(240)
@Tag("takeover")
final class FrozenRolesIT {

    private static final Credentials ROOT = new Credentials(SecuredCluster.ROOT, SecuredCluster.ROOT);

    private static final HandoverOptions OPTIONS = HandoverOptions.DEFAULTS
            .within(Duration.ofSeconds(20), Duration.ofSeconds(20))
            .acceptingSilentWatchers()
            .with(FreezeMode.AUTH);

    @TempDir
    private Path folder;

    private SecuredCluster source;
    private SecuredCluster target;

    @BeforeEach
    void start() {
        source = SecuredCluster.start("source", folder.resolve("source"));
        target = SecuredCluster.start("target", folder.resolve("target"));
        source.asRoot("role", "add", "app");
        source.asRoot("role", "grant-permission", "app", "--prefix", "readwrite", "/in/");
        source.asRoot("user", "add", "ann:secret");
        source.asRoot("user", "grant-role", "ann", "app");
        source.asRoot("put", "/in/a", "1");
    }

    @AfterEach
    void stop() {
        source.close();
        target.close();
    }

    @Test
    void whileTheSourceIsFrozenNothingIsCopiedAndAfterTheUndoAllIs() throws Exception {
        try (MirrorProcess mirror = Mirrors.start(settings("dr"));
                MirrorParties parties = parties()) {
            awaitGranted(mirror);
            assertThatThrownBy(() -> Handover.switchover(parties.forward(), OPTIONS, new Killed("freeze", true))
                            .run())
                    .isInstanceOf(Killed.KilledException.class);
            source.asRoot("user", "add", "ben:secret");
            assertHeldWithTheGrants(mirror);

            var unused = Handover.switchover(parties.forward(), OPTIONS, HandoverListener.NONE)
                    .undo();
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(target.asRoot("user", "list"))
                    .contains("ben"));
            assertThat(ShownAuth.of(mirror).json().path("held").isNull()).isTrue();
            assertThat(target.asRoot("role", "get", "app")).contains("KV Write:\n\t[/in/");
        }
    }

    @Test
    void aRoleThatWasDeletedMeanwhileDoesNotHoldUpTheUndo() throws Exception {
        try (MirrorProcess mirror = Mirrors.start(settings("dr"));
                MirrorParties parties = parties()) {
            awaitGranted(mirror);
            assertThatThrownBy(() -> Handover.switchover(parties.forward(), OPTIONS, new Killed("freeze", true))
                            .run())
                    .isInstanceOf(Killed.KilledException.class);
            source.asRoot("role", "delete", "app");

            var unused = Handover.switchover(parties.forward(), OPTIONS, HandoverListener.NONE)
                    .undo();
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(ShownAuth.of(mirror).json().path("held").isNull()).isTrue();
                assertThat(target.asRoot("role", "list")).doesNotContain("app");
            });
        }
    }

    @Test
    void aFreezeForOneMirrorHoldsWhatAnotherCopiesFromTheSameSource() throws Exception {
        try (SecuredCluster third = SecuredCluster.start("third", folder.resolve("third"));
                MirrorProcess mirror = Mirrors.start(settings("dr"));
                MirrorProcess other = Mirrors.start(settings("other", third));
                MirrorParties parties = parties()) {
            awaitGranted(mirror);
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(third.asRoot("role", "list"))
                    .contains("app"));
            assertThatThrownBy(() -> Handover.switchover(parties.forward(), OPTIONS, new Killed("freeze", true))
                            .run())
                    .isInstanceOf(Killed.KilledException.class);
            assertHeldWithTheGrants(other);
            assertThat(third.asRoot("role", "get", "app")).contains("KV Write:\n\t[/in/");
        }
    }

    @Test
    void whoeverWroteAtTheSourceMayDoSoAtTheTargetThatHasTakenOver() throws Exception {
        try (MirrorProcess mirror = Mirrors.start(settings("dr"));
                MirrorParties parties = parties()) {
            awaitGranted(mirror);
            assertThat(Handover.switchover(
                                    parties.forward(), OPTIONS, afterTheFreeze(() -> assertHeldWithTheGrants(mirror)))
                            .run()
                            .loss())
                    .isEqualTo("none");
            Mirrors.awaitHomeMoved(mirror);
            source.asRoot("user", "delete", "ann");
            assertThat(source.asRoot("role", "get", "app")).doesNotContain("KV Write:\n\t[/in/");
            await().during(Duration.ofSeconds(2)).atMost(PATIENCE).untilAsserted(() -> {
                assertThat(target.asRoot("user", "get", "ann")).contains("app");
                assertThat(target.asRoot("role", "get", "app")).contains("KV Write:\n\t[/in/");
            });

            assertThat(new Failback(parties, OPTIONS, PATIENCE, HandoverListener.NONE, report -> {})
                            .run()
                            .loss())
                    .isEqualTo("none");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(target.asRoot("user", "list"))
                    .doesNotContain("ann"));
            assertThat(source.asRoot("role", "get", "app")).contains("KV Write:\n\t[/in/");
            assertThat(target.asRoot("role", "get", "app")).contains("KV Write:\n\t[/in/");
        }
    }

    @Test
    void aFailbackThatIsRunAgainAfterItHasMovedTheHomeGrantsWhatItHasWithdrawn() throws Exception {
        try (MirrorProcess mirror = Mirrors.start(settings("dr"));
                MirrorParties parties = parties()) {
            awaitGranted(mirror);
            Handover.switchover(parties.forward(), OPTIONS, HandoverListener.NONE)
                    .run();
            assertThatThrownBy(() ->
                            new Failback(parties, OPTIONS, PATIENCE, new Killed("home", true), report -> {}).run())
                    .isInstanceOf(Killed.KilledException.class);
            assertThat(target.asRoot("role", "get", "app")).doesNotContain("KV Write:\n\t[/in/");

            assertThat(new Failback(parties, OPTIONS, PATIENCE, HandoverListener.NONE, report -> {})
                            .run()
                            .loss())
                    .isEqualTo("none");
            assertThat(target.asRoot("role", "get", "app")).contains("KV Write:\n\t[/in/");
            source.asRoot("put", "/in/a", "2");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(target.asRoot("get", "/in/a"))
                    .contains("2"));
        }
    }

    private static HandoverListener afterTheFreeze(Runnable what) {
        return new HandoverListener() {
            @Override
            public void ends(StepPlan step) {
                if (step.name().equals("freeze")) {
                    what.run();
                }
            }
        };
    }

    private void assertHeldWithTheGrants(MirrorProcess mirror) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(source.asRoot("role", "get", "app")).doesNotContain("KV Write:\n\t[/in/");
            assertThat(ShownAuth.of(mirror).json().path("held").asText()).contains("withdrawn");
            assertThat(ShownAuth.of(mirror).warnings()).anyMatch(each -> each.contains("understudy/freeze/"));
        });
        assertThat(target.asRoot("role", "get", "app")).contains("KV Write:\n\t[/in/");
        assertThat(target.asRoot("user", "list")).doesNotContain("ben");
    }

    private void awaitGranted(MirrorProcess mirror) {
        await().atMost(PATIENCE).ignoreExceptions().untilAsserted(() -> {
            assertThat(mirror.reports().get(0).completeRevision()).isPositive();
            assertThat(target.asRoot("user", "get", "ann")).contains("app");
            assertThat(target.asRoot("role", "get", "app")).contains("KV Write:\n\t[/in/");
        });
    }

    private MirrorParties parties() {
        return new MirrorParties(settings("dr"), null, null, OPTIONS.patience());
    }

    private MirrorSettings.Mirror settings(String mirror) {
        return settings(mirror, target);
    }

    private MirrorSettings.Mirror settings(String mirror, SecuredCluster into) {
        return new MirrorSettings.Mirror(
                mirror,
                MirrorSettings.Source.Etcd.of(Mirrors.settings(source.etcd()).withLogin(ROOT)),
                MirrorScope.prefix("/in/"),
                MirrorSettings.Target.Etcd.of(
                                Mirrors.settings(into.etcd()).withLogin(ROOT),
                                EtcdSinkOptions.DEFAULTS
                                        .withProgressInterval(Duration.ofMillis(100))
                                        .withMaxPrunePercent(100))
                        .with(new AuthOptions(AuthMode.COPY, null, Duration.ofMillis(100), Duration.ofSeconds(1))));
    }
}
