package io.understudy.mirror.auth;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.Permission;
import io.etcd.jetcd.api.PutRequest;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.Duty;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.auth.AuthTarget.OvertakenException;
import io.understudy.mirror.auth.Authorisation.GrantedRange;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.MirrorJvm;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SecuredCluster;
import io.understudy.mirror.fixture.ShownAuth;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.settings.MirrorSettings;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Roles and users of one cluster with authentication arrive in another. On both sides there is also a user {@code mirror}
 * with a role of his own.
 *
 * <p>Tests invariants M12, M13, M14.
 */
@Timeout(240)
final class AuthCopyIT {

    private static final Credentials ROOT = new Credentials(SecuredCluster.ROOT, SecuredCluster.ROOT);
    private static final Credentials MIRROR = new Credentials(SecuredCluster.MIRROR, SecuredCluster.PASSWORD);

    /** Hashes that others have published, of {@code U*U} and {@code U*U*}. */
    private static final String HASH = "$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW";

    private static final String OTHER_HASH = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK";

    private static final GrantedRange KEY = range("/in/a", "");
    private static final GrantedRange PREFIX = range("/in/p/", "/in/p0");
    private static final GrantedRange FROM_KEY = range("/in/z", "\0");
    private static final GrantedRange ZERO_BYTE = range("\0understudy/home/", "\0understudy/home0");
    private static final GrantedRange ALL = range("\0", "\0");

    @TempDir
    private Path folder;

    private SecuredCluster sourceCluster;
    private SecuredCluster targetCluster;
    private AuthSide source;
    private AuthSide target;

    @BeforeEach
    void start() {
        sourceCluster = SecuredCluster.start("source", folder.resolve("source"));
        targetCluster = SecuredCluster.start("target", folder.resolve("target"));
        source = AuthSide.of(sourceCluster.etcd(), ROOT);
        target = AuthSide.of(targetCluster.etcd(), ROOT);
    }

    @AfterEach
    void stop() {
        source.close();
        target.close();
        sourceCluster.close();
        targetCluster.close();
    }

    @Test
    void rolesGrantsAndUsersAreCopiedExceptRoot() throws Exception {
        AuthCalls there = source.calls();
        there.addRole("app");
        there.grant("app", KEY, Permission.Type.READ);
        there.grant("app", PREFIX, Permission.Type.WRITE);
        there.grant("app", FROM_KEY, Permission.Type.READWRITE);
        there.grant("app", ZERO_BYTE, Permission.Type.READWRITE);
        there.grant("app", ALL, Permission.Type.READ);
        there.addRole("empty");
        there.addUser("ann");
        there.giveRole("ann", "app");
        there.giveRole("ann", "empty");
        there.addUser("admin");
        there.giveRole("admin", "root");
        there.giveRole("root", "app");
        try (MirrorProcess mirror = start(options(null))) {
            awaitUser("ann", Set.of("app", "empty"));
            awaitUser("admin", Set.of("root"));
            assertThat(target.held().roles())
                    .containsEntry("app", source.held().grantsOf("app"))
                    .containsEntry("empty", Map.of());
            assertThat(target.held().grantsOf("app")).hasSize(5);
            assertThat(target.held().rolesOf("root")).containsExactly("root");

            there.grant("app", KEY, Permission.Type.READWRITE);
            there.revoke("app", ALL);
            there.takeRole("ann", "empty");
            there.deleteRole("empty");
            there.deleteUser("admin");
            there.addUser("ben");
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(target.held().users())
                        .containsOnlyKeys("root", "mirror", "ann", "ben")
                        .containsEntry("ann", Set.of("app"));
                assertThat(target.held().roles()).containsOnlyKeys("mirror", "app");
                assertThat(target.held().grantsOf("app"))
                        .isEqualTo(source.held().grantsOf("app"));
                assertThat(ShownAuth.of(mirror).names("users")).containsExactly("ann", "ben");
            });
            ShownAuth shown = ShownAuth.of(mirror);
            assertThat(shown.names("roles")).containsExactly("app");
            assertThat(shown.names("withoutPassword")).containsExactly("ann", "ben");
            assertThat(shown.json().path("sourceEnabled").asBoolean()).isTrue();
            assertThat(shown.json().path("targetEnabled").asBoolean()).isTrue();
            assertThat(shown.lines())
                    .contains("roles copied: app", "users copied: ann, ben", "users without a password: ann, ben");
        }
    }

    @Test
    void aNarrowedGrantIsCopiedBesideAnotherWithTheSameStart() throws Exception {
        GrantedRange keyOfPrefix = range("/in/p/", "");
        source.calls().addRole("app");
        source.calls().grant("app", PREFIX, Permission.Type.READWRITE);
        source.calls().grant("app", keyOfPrefix, Permission.Type.READ);
        try (MirrorProcess mirror = start(options(null))) {
            awaitGrantsOfApp();
            source.calls().revoke("app", PREFIX);
            source.calls().grant("app", PREFIX, Permission.Type.READ);
            awaitGrantsOfApp();
            source.calls().grant("app", keyOfPrefix, Permission.Type.WRITE);
            awaitGrantsOfApp();
            assertThat(ShownAuth.of(mirror).names("roles")).containsExactly("app");
        }
    }

    private void awaitGrantsOfApp() {
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(target.held().grantsOf("app"))
                .isEqualTo(source.held().grantsOf("app")));
    }

    @Test
    void permissionsWithdrawnByASwitchoverAreNotRestored() throws Exception {
        source.calls().addRole("app");
        source.calls().grant("app", PREFIX, Permission.Type.READWRITE);
        try (MirrorProcess mirror = start(options(null))) {
            awaitGrantsOfApp();
            ClusterCalls keys = new ClusterCalls(target.cluster(), Duty.WRITE, Duration.ofSeconds(10));
            ByteString mark = ReservedKeys.freeze("onwards");
            var marked = keys.kv(
                    stub -> stub.put(PutRequest.newBuilder().setKey(mark).build()));
            target.calls().revoke("app", PREFIX);
            source.calls().addRole("later");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            ShownAuth.of(mirror).json().path("held").asText())
                    .contains("closed the target to clients"));
            assertThat(target.held().grantsOf("app")).isEmpty();
            assertThat(target.held().roles()).doesNotContainKey("later");

            var lifted = keys.kv(stub -> stub.deleteRange(
                    DeleteRangeRequest.newBuilder().setKey(mark).build()));
            awaitGrantsOfApp();
            assertThat(marked.hasHeader() && lifted.hasHeader()).isTrue();
        }
    }

    @Test
    void foreignChangesAreRepairedAndTheTargetsOwnUsersLeftAlone() throws Exception {
        for (AuthSide side : new AuthSide[] {source, target}) {
            side.calls().addRole("same");
            side.calls().addUser("same");
        }
        source.calls().grant("same", PREFIX, Permission.Type.READWRITE);
        source.calls().giveRole("same", "same");
        source.calls().addRole("app");
        source.calls().addUser("ann");
        source.calls().giveRole("ann", "same");
        target.calls().addRole("only-here");
        target.calls().addUser("only-here");
        target.calls().giveRole("only-here", "only-here");
        try (MirrorProcess mirror = start(options(null))) {
            awaitUser("ann", Set.of());
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(ShownAuth.of(mirror).names("rolesLeftAlone"))
                            .contains("same"));
            ShownAuth shown = ShownAuth.of(mirror);
            assertThat(shown.names("rolesLeftAlone")).containsExactly("mirror", "same");
            assertThat(shown.names("usersLeftAlone")).containsExactly("mirror", "same");
            assertThat(shown.warnings()).singleElement().asString().contains("not overwritten", "same");

            target.calls().deleteRole("app");
            target.calls().deleteUser("ann");
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(target.held().roles()).containsKey("app");
                assertThat(target.held().users()).containsKey("ann");
            });
            assertThat(target.held().grantsOf("same")).isEmpty();
            assertThat(target.held().rolesOf("same")).isEmpty();
            assertThat(target.held().rolesOf("only-here")).containsExactly("only-here");
        }
    }

    @Test
    void onlyUsersWithAConfiguredHashLogInByPassword() throws Exception {
        Path passwords = Files.writeString(folder.resolve("passwords"), "ann:" + HASH + "\n");
        source.calls().addUser("ann");
        source.calls().addUser("ben");
        try (MirrorProcess mirror = start(options(passwords))) {
            await().atMost(PATIENCE).untilAsserted(() -> {
                ShownAuth shown = ShownAuth.of(mirror);
                assertThat(shown.names("users")).containsExactly("ann", "ben");
                assertThat(shown.names("withoutPassword")).containsExactly("ben");
            });
            assertThat(target.letsIn("ann", "U*U")).isTrue();
            assertThat(target.letsIn("ann", "U*U*")).isFalse();
            assertThat(target.letsIn("ben", "U*U")).isFalse();
            assertThat(target.letsIn("ben", "")).isFalse();

            long revision = target.status().revision();
            awaitComparedAgain(mirror);
            assertThat(target.status().revision()).as("nothing is done twice").isEqualTo(revision);

            Files.writeString(passwords, "ann:" + OTHER_HASH + "\nben:" + HASH + "\n");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(ShownAuth.of(mirror).names("withoutPassword"))
                            .isEmpty());
            assertThat(target.letsIn("ann", "U*U*")).isTrue();
            assertThat(target.letsIn("ann", "U*U")).isFalse();
            assertThat(target.letsIn("ben", "U*U")).isTrue();

            Files.writeString(passwords, "ann:U*U*U\n");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            ShownAuth.of(mirror).json().path("problem").asText())
                    .contains(passwords + " line 1: ")
                    .doesNotContain("U*U"));
            source.calls().addUser("zoe");
            awaitUser("zoe", Set.of());
            assertThat(target.letsIn("ann", "U*U*")).isTrue();
            assertThat(ShownAuth.of(mirror).warnings()).anyMatch(each -> each.contains("line 1"));
        }
    }

    @Test
    void missingPermissionToReadUsersIsReportedAndKeysAreMirrored() throws Exception {
        sourceCluster.grant(new SecuredCluster.Grant("READWRITE", "\0", "\0"));
        try (MirrorProcess mirror = start(MIRROR, options(null))) {
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            ShownAuth.of(mirror).json().path("problem").asText())
                    .contains("permission denied", "role root"));
            assertThat(ShownAuth.of(mirror).lines()).anyMatch(line -> line.startsWith("failed: "));
            assertThat(ShownAuth.of(mirror).warnings()).isNotEmpty();
            sourceCluster.asRoot("put", "/in/a", "1");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(targetCluster.asRoot("get", "/in/a"))
                    .contains("/in/a"));
            assertThat(mirror.reports().get(0).state()).isEqualTo(MirrorState.SYNCED);

            source.calls().addUser("ann");
            source.calls().giveRole("mirror", "root");
            awaitUser("ann", Set.of());
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            ShownAuth.of(mirror).json().path("problem").isNull())
                    .isTrue());
        }
    }

    @Test
    void aFencedProcessStopsCopying() throws Exception {
        source.calls().addUser("ann");
        try (MirrorProcess mirror = start(options(null))) {
            awaitUser("ann", Set.of());
            awaitComparedAgain(mirror);
        }
        AuthRegister register = new AuthRegister("dr", target.cluster());
        var stale = Compare.newBuilder()
                .setKey(ReservedKeys.epoch("dr"))
                .setTarget(Compare.CompareTarget.MOD)
                .setResult(Compare.CompareResult.EQUAL)
                .setModRevision(1)
                .build();
        AuthTarget late = new RegisteredTarget(target.calls(), register, stale);
        assertThatThrownBy(() -> late.deleteUser("ann")).isInstanceOf(OvertakenException.class);
        assertThatThrownBy(() -> late.addUser("ben")).isInstanceOf(OvertakenException.class);
        assertThat(target.held().users()).containsKey("ann").doesNotContainKey("ben");
        assertThat(register.read().users()).containsOnlyKeys("ann");
    }

    @Test
    void aSourceThatLostItsUsersRemovesNoneFromTheTarget() throws Exception {
        source.calls().addUser("ann");
        try (MirrorProcess mirror = start(options(null))) {
            awaitUser("ann", Set.of());
            source.calls().deleteUser("ann");
            source.calls().deleteUser("mirror");
            source.calls().deleteRole("mirror");
            // A partial state in between is copied: only an empty one isn't.
            source.calls().addUser("ben");
            awaitUser("ben", Set.of());
            source.calls().deleteUser("ben");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            ShownAuth.of(mirror).json().path("problem").asText())
                    .contains("the source no longer has roles and users"));
            assertThat(target.held().users()).containsKey("ben");

            source.calls().addUser("zoe");
            awaitUser("zoe", Set.of());
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(target.held().users()).doesNotContainKeys("ann", "ben"));
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            ShownAuth.of(mirror).json().path("problem").isNull())
                    .isTrue());
        }
    }

    @Test
    @Tag("schedules")
    void anotherProcessCompletesAnInterruptedCopy() throws Exception {
        for (int i = 0; i < 40; i++) {
            source.calls().addRole("role-" + i);
            source.calls().grant("role-" + i, PREFIX, Permission.Type.READ);
            source.calls().addUser("user-" + i);
            source.calls().giveRole("user-" + i, "role-" + i);
        }
        try (MirrorJvm mirror = MirrorJvm.etcdWithAuth(folder, sourceCluster.etcd(), targetCluster.etcd())) {
            mirror.start();
            await().atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> target.held().users().size() > 5);
            mirror.kill();
            assertThat(target.held().users()).hasSizeLessThan(42);
            mirror.start();
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(target.held()).isEqualTo(source.held());
                assertThat(new AuthRegister("dr", target.cluster()).read().users())
                        .hasSize(40);
            });
        }
    }

    private void awaitUser(String user, Set<String> roles) {
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(target.held().users()).containsEntry(user, roles));
    }

    private static void awaitComparedAgain(MirrorProcess mirror) throws Exception {
        for (int times = 0; times < 2; times++) {
            var before = ShownAuth.of(mirror).comparedAt();
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(ShownAuth.of(mirror).comparedAt()).isAfter(before));
        }
    }

    private static AuthOptions options(@Nullable Path passwords) {
        return new AuthOptions(AuthMode.COPY, passwords, Duration.ofMillis(100), Duration.ofMillis(500));
    }

    private MirrorProcess start(AuthOptions options) {
        return start(ROOT, options);
    }

    private MirrorProcess start(Credentials atSource, AuthOptions options) {
        return Mirrors.start(new MirrorSettings.Mirror(
                "dr",
                MirrorSettings.Source.Etcd.of(
                        Mirrors.settings(sourceCluster.etcd()).withLogin(atSource)),
                MirrorScope.prefix("/in/"),
                MirrorSettings.Target.Etcd.of(
                                Mirrors.settings(targetCluster.etcd()).withLogin(ROOT), EtcdSinkOptions.DEFAULTS)
                        .with(options)));
    }

    private static GrantedRange range(String from, String end) {
        return new GrantedRange(ByteString.copyFromUtf8(from), ByteString.copyFromUtf8(end));
    }
}
