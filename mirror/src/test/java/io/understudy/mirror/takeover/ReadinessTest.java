package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Permission;
import io.understudy.etcd.Credentials;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.home.Move;
import io.understudy.mirror.home.Move.Way;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position.Anchor;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Permissions that a take-over needs and the mirror's user lacks. */
final class ReadinessTest {

    private static final MirrorScope SCOPE = MirrorScope.prefix("/app/");
    private static final KeyRange KEYS = SCOPE.sourceRanges().get(0);
    private static final KeyRange HOMES = ReservedKeys.HOMES;

    private int requests;
    private final FakeCluster.World counting = new FakeCluster.World() {
        @Override
        public <T> T request(FakeCluster cluster, String what, Supplier<T> body) {
            requests++;
            return body.get();
        }
    };
    private final FakeCluster source = started("source", 1);
    private final FakeCluster target = started("target", 2);

    private FakeCluster started(String name, long id) {
        FakeCluster cluster = new FakeCluster(name, id, counting);
        cluster.auth = true;
        cluster.user = "mirror";
        cluster.users.put("root", List.of("root"));
        cluster.users.put("mirror", new ArrayList<>(List.of("mirror")));
        cluster.roles.put("root", List.of());
        cluster.roles.put("mirror", new ArrayList<>());
        grant(cluster, Permission.Type.READWRITE, KEYS);
        grant(cluster, Permission.Type.READWRITE, ReservedKeys.RANGE);
        moves(cluster, 0);
        return cluster;
    }

    private static void moves(FakeCluster cluster, long moves) {
        Home home = new Home("dr", new ClusterId(1), new ClusterId(1), new ClusterId(2), SCOPE, moves, Instant.EPOCH);
        cluster.put(ReservedKeys.home("dr"), home.encode(), 0);
    }

    private static void grant(FakeCluster cluster, Permission.Type type, KeyRange range) {
        cluster.roles
                .get("mirror")
                .add(Permission.newBuilder()
                        .setPermType(type)
                        .setKey(range.etcdKey())
                        .setRangeEnd(range.etcdRangeEnd())
                        .build());
    }

    private static void revoke(FakeCluster cluster, KeyRange range) {
        assertThat(cluster.roles.get("mirror").removeIf(each -> each.getKey().equals(range.etcdKey())))
                .isTrue();
    }

    private Readiness readiness() {
        return Readiness.of(new Direction(
                "dr",
                SCOPE,
                source,
                target,
                closing(source),
                closing(target),
                new NoComparer(),
                true,
                new Lock("a test")));
    }

    private static Closing closing(FakeCluster cluster) {
        return new Closing("dr", cluster, List.of(KEYS), Set.of("mirror", "root"), new Credentials("mirror", "secret"));
    }

    @Test
    void withAllPermissionsThereIsNoProblem() {
        assertThat(readiness().problems()).isEmpty();
        assertThat(readiness().note()).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "source,keys,,read and write keys from \"/app/\",grant-permission mirror readwrite --prefix '/app/'",
        "source,keys,READ,write keys from \"/app/\",grant-permission mirror readwrite --prefix '/app/'",
        "source,keys,WRITE,read keys from \"/app/\",grant-permission mirror readwrite --prefix '/app/'",
        "source,records,,read and write keys from \"\\000understudy/\",AHVuZGVyc3R1ZHkv",
        "source,records,READ,write keys from \"\\000understudy/\",AHVuZGVyc3R1ZHkv",
        "target,keys,,read and write keys from \"/app/\",grant-permission mirror readwrite --prefix '/app/'",
        "target,keys,READ,write keys from \"/app/\",grant-permission mirror readwrite --prefix '/app/'",
        "target,records,,read and write keys from \"\\000understudy/\",AHVuZGVyc3R1ZHkv",
        "target,records,READ,write keys from \"\\000understudy/\",AHVuZGVyc3R1ZHkv"
    })
    void aMissingPermissionIsNamedWithItsClusterAndTheCommandThatGrantsIt(
            String side, String of, Permission.Type left, String denied, String command) {
        FakeCluster cluster = side.equals("source") ? source : target;
        KeyRange range = of.equals("keys") ? KEYS : ReservedKeys.RANGE;
        revoke(cluster, range);
        if (left != null) {
            grant(cluster, left, range);
        }
        Readiness found = readiness();
        assertThat(found.note()).isNull();
        assertThat(found.problems()).singleElement().satisfies(problem -> assertThat(problem)
                .startsWith(side + ": user mirror must not " + denied)
                .contains(command));
    }

    /** As docs/operate/security.md grants it. */
    @Test
    void aMirrorThatMayOnlyReadItsSourceIsNoProblem_unlessTheRoleMovedBefore() {
        for (KeyRange range : List.of(KEYS, ReservedKeys.RANGE)) {
            revoke(source, range);
            grant(source, Permission.Type.READ, range);
        }
        grant(source, Permission.Type.READWRITE, HOMES);
        Readiness found = readiness();
        assertThat(found.problems()).isEmpty();
        assertThat(found.note()).contains("only failover", "may not write at source", "config check --connect");

        revoke(target, KEYS);
        assertThat(readiness().problems())
                .as("at the target")
                .singleElement()
                .asString()
                .startsWith("target: ");

        moves(source, 1);
        assertThat(readiness().problems())
                .as("moved before")
                .hasSize(3)
                .filteredOn(each -> each.startsWith("source: "))
                .hasSize(2);
    }

    @Test
    void aMissingRecordIsAProblem() {
        target.delete(ReservedKeys.home("dr"));
        assertThat(readiness().problems())
                .singleElement()
                .asString()
                .startsWith("target has no primary record of mirror dr");
    }

    /** A move there is refused. */
    @ParameterizedTest
    @ValueSource(strings = {"source", "target"})
    void anUnreadableRecordOfAnotherMirrorIsAProblem(String side) {
        (side.equals("source") ? source : target)
                .put(ReservedKeys.home("later"), ByteString.copyFromUtf8("{\"format\":9}"), 0);
        assertThat(readiness().problems()).singleElement().asString().contains(" at " + side + ":", "home/later");
    }

    /** Such as for auth: copy, which needs the role root. */
    @Test
    void aMirrorWithTheRoleRootAlsoNamesClientsThatCouldNotBeKeptFromWriting() {
        target.user = null;
        target.users.put("mirror", List.of("mirror", "root"));
        assertThat(readiness().problems()).as("user root is needed").isEmpty();
        target.users.put("admin", List.of("root"));
        target.users.put("app", List.of("mirror"));
        assertThat(readiness().problems())
                .satisfiesExactly(
                        one -> assertThat(one).contains("users with the role root can write at target", ": admin."),
                        other -> assertThat(other).contains("role mirror at target is shared", "app"));
    }

    /** No command looks at it, and the mirror overwrites what clients write there. */
    @ParameterizedTest
    @EnumSource(
            value = Way.class,
            names = {"ROLES", "AUTH_ENABLE", "NONE"})
    void aClosedCopyThatAcceptsClientWritesIsAProblem(Way way) {
        target.user = null;
        Home copy = new Home("dr", new ClusterId(1), new ClusterId(1), new ClusterId(2), SCOPE, 2, Instant.EPOCH);
        Move closed = Move.NONE.closed(new Move.Closed(way, 0, List.of()));
        target.put(ReservedKeys.home("dr"), copy.with(closed).encode(), 0);
        assertThat(readiness().problems()).isEmpty();
        target.auth = false;
        assertThat(readiness().problems()).hasSize(way == Way.NONE ? 0 : 1).allSatisfy(problem -> assertThat(problem)
                .startsWith("target is a copy that was closed")
                .contains("understudy mirror release"));
        target.put(ReservedKeys.home("dr"), copy.encode(), 0);
        assertThat(readiness().problems()).as("released").isEmpty();
    }

    /** The mirror stores a new one, without the permissions. */
    @Test
    void aClosedClusterWithARecordThatWasDeletedIsAProblem() {
        target.put(ReservedKeys.freeze("dr"), ByteString.EMPTY, 0);
        assertThat(readiness().problems())
                .singleElement()
                .asString()
                .startsWith("target was closed by a move of mirror dr");
    }

    @Test
    void isCheckedAtOnce_thenEverySevenMinutes_withFewCalls() {
        long[] now = {Long.MAX_VALUE - 1};
        ReadinessCheck check = new ReadinessCheck("dr", this::readiness, () -> now[0]);
        assertThat(check.found()).isNull();
        requests = 0;
        check.step();
        assertThat(requests).isPositive().isLessThanOrEqualTo(40);
        assertThat(check.found()).isNotNull();
        revoke(target, KEYS);
        requests = 0;
        now[0] += Duration.ofSeconds(419).toNanos();
        check.step();
        assertThat(requests).isZero();
        now[0] += Duration.ofSeconds(1).toNanos();
        check.step();
        assertThat(requests).isPositive().isLessThanOrEqualTo(40);
        assertThat(check.found())
                .satisfies(found -> assertThat(found.problems()).hasSize(1));
    }

    /** Readiness compares nothing. */
    private record NoComparer() implements Direction.Comparer {
        @Override
        public Equal all() {
            throw new AssertionError();
        }

        @Override
        public Equal changed(Equal before) {
            throw new AssertionError();
        }

        @Override
        public Lost lostBetween(long after, long until) {
            throw new AssertionError();
        }

        @Override
        public boolean hasWrites(long after, long until) {
            throw new AssertionError();
        }

        @Override
        public Lost lostAfter(Checkpoint reached) {
            throw new AssertionError();
        }

        @Override
        public List<ByteString> overwritten(Equal before, long until, long firstAt) {
            throw new AssertionError();
        }

        @Override
        public void differing(Consumer<ByteString> each) {
            throw new AssertionError();
        }

        @Override
        public List<ByteString> missingSince(TakeOverCalls cluster, long revision, long until, boolean expired) {
            throw new AssertionError();
        }

        @Override
        public Anchor anchor(long revision) {
            throw new AssertionError();
        }
    }
}
