package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Permission;
import io.understudy.etcd.Credentials;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move;
import io.understudy.mirror.home.Move.Closed;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Roles lose write access to the range and nothing else, and get back what they had.
 *
 * <p>Tests invariant M14.
 */
final class ClosingTest {

    private final FakeCluster cluster = new FakeCluster("source", 1, new FakeCluster.World() {
        @Override
        public <T> T request(FakeCluster at, String what, Supplier<T> body) {
            T answer = body.get();
            after.accept(what);
            return answer;
        }
    });
    /** What happens after each request. */
    private Consumer<String> after = request -> {};

    private final Closing closing = new Closing(
            "b",
            cluster,
            List.of(KeyRange.prefix(bytes("/b/")), KeyRange.prefix(bytes("/d/"))),
            Set.of("mirror", "root"),
            new Credentials("mirror", "secret"));

    private Closing of(String prefix) {
        return new Closing(
                prefix,
                cluster,
                List.of(KeyRange.prefix(bytes(prefix))),
                closing.exempt(),
                new Credentials("mirror", "secret"));
    }

    private void start(Permission... permissions) {
        cluster.auth = true;
        cluster.users.put("root", List.of("root"));
        cluster.users.put("mirror", List.of("mirror"));
        cluster.users.put("app", List.of("app"));
        cluster.roles.put("root", List.of());
        cluster.roles.put("mirror", List.of(permission(Permission.Type.READWRITE, "/", "0")));
        cluster.roles.put("app", new ArrayList<>(List.of(permissions)));
    }

    @ParameterizedTest
    @CsvSource({"/,0", "/b/,/b0", "/b/x,/b/z", "/a/,/c0", "/c/,/e0", "/b/,/e/", "/,/d/y", "/b/k,''"})
    void closesTheRangeAlone_andOpensItAsItWas(String from, String end) {
        start(permission(Permission.Type.READWRITE, from, end), permission(Permission.Type.READ, "/a/", "/a0"));
        Set<Permission> before = new HashSet<>(cluster.roles.get("app"));
        List<String> keys = List.of("/a/1", "/b/k", "/b/y", "/c/1", "/d/1", "/d/z", "/e/1");
        List<String> written = keys.stream().filter(cluster::isOpen).toList();

        Closed closed = closing.prepare(Way.ROLES);
        closing.close(closed);
        closing.close(closed);
        assertThat(keys.stream().filter(cluster::isOpen))
                .containsExactlyElementsOf(written.stream()
                        .filter(key -> !key.startsWith("/b/") && !key.startsWith("/d/"))
                        .toList());
        assertThat(closing.isClosed(closed)).isTrue();

        closing.open(closed);
        closing.open(closed);
        assertThat(new HashSet<>(cluster.roles.get("app"))).isEqualTo(before);
    }

    /** etcd then adds permissions instead of changing their types. */
    @Test
    void permissionsThatStartAtOneKeyCloseAndOpen() {
        start(
                permission(Permission.Type.READ, "/", "/x"),
                permission(Permission.Type.READWRITE, "/", "0"),
                permission(Permission.Type.READWRITE, "/", "/y"));
        Set<Permission> before = new HashSet<>(cluster.roles.get("app"));
        List<String> requests = new ArrayList<>();
        after = requests::add;

        Closed closed = closing.prepare(Way.ROLES);
        closing.close(closed);
        assertThat(requests)
                .as("reads are permitted again at once")
                .containsSequence("revoke", "grant", "revoke", "grant");
        closing.refuseKeepAlives(closed);
        assertOpen("/a/k", "/c/k");
        closing.open(closed);
        assertThat(cluster.roles.get("app")).hasSize(before.size()).containsAll(before);
    }

    /** Their commands have different locks. */
    @ParameterizedTest
    @CsvSource({
        "/a/,/b/,true,true", "/a/,/b/,true,false", "/a/,/b/,false,true", "/a/,/b/,false,false",
        "/b/,/a/,true,true", "/b/,/a/,true,false", "/b/,/a/,false,true", "/b/,/a/,false,false"
    })
    void mirrorsOfOneClusterDoNotOpenWhatAnotherClosed(
            String ofFirst, String ofSecond, boolean isPreparedBefore, boolean isOpenedInOrder) {
        start(permission(Permission.Type.READWRITE, "/", "0"));
        Closing first = of(ofFirst);
        Closing second = of(ofSecond);
        Closed one = first.prepare(Way.ROLES);
        Closed other = isPreparedBefore ? second.prepare(Way.ROLES) : null;
        closed(first, one);
        other = other == null ? second.prepare(Way.ROLES) : other;
        closed(second, other);
        second.refuseKeepAlives(other);
        assertOpen("/c/k");
        closed(first, one);
        assertOpen("/c/k");
        if (isOpenedInOrder) {
            opened(first, one);
            opened(first, one);
            assertOpen(ofFirst + "k", "/c/k");
            opened(second, other);
        } else {
            opened(second, other);
            opened(second, other);
            assertOpen(ofSecond + "k", "/c/k");
            opened(first, one);
        }
        assertOpen("/a/k", "/b/k", "/c/k");
    }

    /** Such as one of a later version. */
    @Test
    void aMirrorThatClosesRolesGrantsNothingThatAMirrorWithAnUnreadableRecordMayHaveClosed() {
        start(permission(Permission.Type.READWRITE, "/", "0"));
        Closing first = of("/a/");
        Closing second = of("/b/");
        Closed one = first.prepare(Way.ROLES);
        Closed other = second.prepare(Way.ROLES);
        closed(second, other);
        cluster.put(ReservedKeys.home("/b/"), bytes("{}"), 0);
        for (int time = 0; time < 2; time++) {
            closed(first, one);
            first.refuseKeepAlives(one);
            assertOpen("/c/k");
        }
        assertThatThrownBy(() -> first.open(one)).hasMessageContaining("what another mirror has closed is not known");
        record(second, other);
        opened(first, one);
        assertOpen("/a/k", "/c/k");
        opened(second, other);
        assertOpen("/a/k", "/b/k", "/c/k");
    }

    /** The other one is closed by then: nothing looks at it again. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aMirrorThatChangesRolesDoesNotGrantWhatAnotherClosesMeanwhile(boolean isOpening) {
        start(permission(Permission.Type.READWRITE, "/", "0"));
        Closing first = of("/a/");
        Closing second = of("/b/");
        Closed one = first.prepare(Way.ROLES);
        if (isOpening) {
            closed(first, one);
        }
        Closed other = second.prepare(Way.ROLES);
        after = request -> {
            if (request.equals("range")) {
                after = unused -> {};
                closed(second, other);
                second.refuseKeepAlives(other);
            }
        };
        if (isOpening) {
            opened(first, one);
            assertOpen("/a/k", "/c/k");
        } else {
            closed(first, one);
            assertOpen("/c/k");
            opened(first, one);
        }
        opened(second, other);
        assertOpen("/a/k", "/b/k", "/c/k");
    }

    /** Authentication and alarms are of the whole cluster. */
    @ParameterizedTest
    @CsvSource({
        "AUTH_ENABLE, AUTH_ENABLE, false", "AUTH_ENABLE, AUTH_ENABLE, true",
        "AUTH_ENABLE, CORRUPT_ALARM, false", "AUTH_ENABLE, CORRUPT_ALARM, true",
        "AUTH_ENABLE, ROLES, false", "AUTH_ENABLE, ROLES, true",
        "CORRUPT_ALARM, AUTH_ENABLE, false", "CORRUPT_ALARM, AUTH_ENABLE, true",
        "CORRUPT_ALARM, CORRUPT_ALARM, false", "CORRUPT_ALARM, CORRUPT_ALARM, true",
        "CORRUPT_ALARM, ROLES, false", "CORRUPT_ALARM, ROLES, true"
    })
    void whatOneMirrorClosedByAuthenticationAnotherClosesToo_andTheLastOneOpensIt(
            Way one, Way other, boolean isOpenedInOrder) {
        cluster.login = new Credentials("mirror", "secret");
        Closing first = of("/a/");
        Closing second = of("/b/");
        Closed begun = first.prepare(one);
        closed(first, begun);
        first.refuseKeepAlives(begun);
        if (one == Way.CORRUPT_ALARM) {
            assertThatThrownBy(() -> second.prepare(other)).hasMessageContaining("CORRUPT alarm: complete", "/a/");
        }
        Closed settled = first.settle(begun);
        record(first, settled);
        Closed how = second.prepare(other);
        assertThat(how.way()).isEqualTo(Way.AUTH_ENABLE);
        closed(second, how);
        second.refuseKeepAlives(how);
        assertOpenedByTheLast(
                isOpenedInOrder ? first : second, isOpenedInOrder ? settled : how,
                isOpenedInOrder ? second : first, isOpenedInOrder ? how : settled);
    }

    /** Such as when a lost cluster returns: neither finds the other's record. */
    @ParameterizedTest
    @CsvSource({
        "AUTH_ENABLE, AUTH_ENABLE",
        "AUTH_ENABLE, CORRUPT_ALARM",
        "CORRUPT_ALARM, AUTH_ENABLE",
        "CORRUPT_ALARM, CORRUPT_ALARM"
    })
    void mirrorsThatCloseAClusterByAuthenticationAtTheSameTimeOpenItTogether(Way one, Way other) {
        cluster.login = new Credentials("mirror", "secret");
        Closing first = of("/a/");
        Closing second = of("/b/");
        Closed begun = first.prepare(one);
        Closed how = second.prepare(other);
        closed(first, begun);
        closed(second, how);
        first.refuseKeepAlives(begun);
        second.refuseKeepAlives(how);
        assertOpenedByTheLast(first, begun, second, how);
    }

    private void assertOpenedByTheLast(Closing first, Closed begun, Closing last, Closed how) {
        assertThat(opened(first, begun))
                .hasValueSatisfying(why -> assertThat(why).contains("source stays closed to clients", last.name()));
        assertOpen();
        assertThat(opened(last, how)).isEmpty();
        assertOpen("/a/k", "/b/k", "/c/k");
        assertThat(cluster.auth || cluster.corrupt).isFalse();
    }

    /** Each finds the other one's record first. */
    @Test
    void mirrorsThatOpenAClusterAtTheSameTimeLeaveItOpen() {
        cluster.login = new Credentials("mirror", "secret");
        Closing first = of("/a/");
        Closing second = of("/b/");
        Closed how = first.prepare(Way.AUTH_ENABLE);
        closed(first, how);
        closed(second, how);
        assertThat(first.open(how, () -> {
                    assertThat(opened(second, how)).isPresent();
                    record(first, (Closed) null);
                }))
                .isEmpty();
        assertOpen("/a/k", "/b/k", "/c/k");
    }

    @Test
    void aMirrorThatHasClosedRolesKeepsAuthenticationOn() {
        start(permission(Permission.Type.READWRITE, "/", "0"));
        Closing byRoles = of("/b/");
        closed(byRoles, byRoles.prepare(Way.ROLES));
        assertThat(of("/a/").open(new Closed(Way.AUTH_ENABLE, 0, List.of()))).isPresent();
        assertOpen("/a/k", "/c/k");
    }

    /** It may have found authentication enabled. */
    @Test
    void aMirrorThatBeginsToCloseMeanwhileKeepsAuthenticationOn() {
        cluster.login = new Credentials("mirror", "secret");
        Closing first = of("/a/");
        Closed how = first.prepare(Way.AUTH_ENABLE);
        closed(first, how);
        after = request -> {
            if (request.equals("auth disable")) {
                record(of("/b/"), how);
            }
        };
        assertThat(first.open(how)).hasValueSatisfying(why -> assertThat(why).contains("/b/"));
        assertOpen();
    }

    /** Each would wait for the other. */
    @Test
    void aMirrorDoesNotKeepItsNewPrimaryClosed() {
        cluster.login = new Credentials("mirror", "secret");
        Closing first = of("/a/");
        Closing second = of("/b/");
        Closed how = first.prepare(Way.AUTH_ENABLE);
        closed(first, how);
        record(second, Move.NONE.in(Move.Phase.MOVED).closed(how));
        assertThat(first.open(how)).isEmpty();
        assertOpen("/a/k", "/b/k", "/c/k");
    }

    private void closed(Closing each, Closed how) {
        record(each, how);
        each.close(how);
    }

    private Optional<String> opened(Closing each, Closed how) {
        return each.open(how, () -> record(each, (Closed) null));
    }

    private void record(Closing each, @Nullable Closed how) {
        record(each, Move.NONE.closed(how));
    }

    private void record(Closing each, Move move) {
        MirrorScope scope = MirrorScope.prefix(each.name());
        ClusterId id = new ClusterId(1);
        Home home = new Home(each.name(), id, id, new ClusterId(2), scope, 0, Instant.EPOCH);
        cluster.put(ReservedKeys.home(each.name()), home.with(move).encode(), 0);
    }

    private void assertOpen(String... keys) {
        assertThat(List.of("/a/k", "/b/k", "/c/k").stream().filter(cluster::isOpen))
                .containsExactly(keys);
    }

    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "CORRUPT_ALARM", "AUTH_ENABLE"})
    void itIsNotOpenIfAnotherClosesItMeanwhile(Way way) {
        cluster.login = new Credentials("mirror", "secret");
        if (way == Way.ROLES) {
            start(permission(Permission.Type.READWRITE, "/", "0"));
        }
        Closed closed = closing.prepare(way);
        closing.close(closed);
        after = request -> {
            switch (request) {
                case "revoke" -> cluster.roles.put("app", new ArrayList<>());
                case "alarm DEACTIVATE" -> cluster.corrupt = true;
                case "auth disable" -> cluster.auth = true;
                default -> {}
            }
        };
        assertThatThrownBy(() -> closing.open(closed)).hasMessageContaining("source is still closed");
        after = request -> {};
        closing.open(closed);
        assertThat(cluster.isOpen("/b/k")).isTrue();
    }

    /** etcd 3.5 lets deletes pass then, whatever closes the cluster. */
    @Test
    void aClusterWithASpaceAlarmIsNotClosed() {
        start(permission(Permission.Type.READWRITE, "/", "0"));
        Closed closed = closing.prepare(Way.ROLES);
        closing.close(closed);
        cluster.full = true;
        assertThat(closing.isClosed(closed)).isFalse();
        assertThatThrownBy(closing::requireSpace).hasMessageContaining("NOSPACE");
        assertThat(closing.prepare(Way.ROLES).way()).as("after a failover").isEqualTo(Way.ROLES);
    }

    @Test
    void clientsWithRootOrTheMirrorsRoleAreNamed() {
        start(permission(Permission.Type.READWRITE, "/", "0"));
        cluster.users.put("admin", List.of("root"));
        assertThatThrownBy(() -> closing.prepare(Way.ROLES)).hasMessageContaining("admin");
        cluster.users.put("admin", List.of("mirror"));
        assertThatThrownBy(() -> closing.prepare(Way.ROLES)).hasMessageContaining("role mirror", "mirror, admin");
        cluster.users.remove("admin");
        cluster.roles.put("mirror", List.of(permission(Permission.Type.READWRITE, "/b/", "/b0")));
        assertThatThrownBy(() -> closing.prepare(Way.ROLES))
                .hasMessageContaining("user mirror cannot write the mirrored keys");
    }

    /** Another user would be locked out with the next login, also from the undo. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"CORRUPT_ALARM", "AUTH_ENABLE"})
    void authenticationIsEnabledOnlyByTheUserThatCanLogInThen(Way way) {
        for (Credentials other : List.of(new Credentials("root", "root"), new Credentials("mirror", "other"))) {
            cluster.login = other;
            assertThatThrownBy(() -> closing.prepare(way)).hasMessageContaining("--source-user");
            // Of a command that was killed, resumed as another user.
            assertThatThrownBy(() -> closing.close(new Closed(way, 0, List.of())))
                    .hasMessageContaining("user " + other.user());
            assertThat(cluster.users).isEmpty();
            assertThat(cluster.auth || cluster.corrupt).isFalse();
        }
        cluster.login = new Credentials("mirror", "secret");
        closing.close(closing.prepare(way));
        assertThat(cluster.auth || cluster.corrupt).isTrue();
    }

    private static Permission permission(Permission.Type type, String from, String end) {
        return Permission.newBuilder()
                .setPermType(type)
                .setKey(bytes(from))
                .setRangeEnd(bytes(end))
                .build();
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }
}
