package io.understudy.mirror.auth;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Permission;
import io.understudy.mirror.auth.AuthRegister.Brought;
import io.understudy.mirror.auth.Authorisation.GrantedRange;
import io.understudy.mirror.auth.PasswordFile.PasswordHash;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/**
 * Whatever either side holds: what the mirror has brought becomes as the source has it, and nothing else is touched.
 *
 * <p>Tests invariant M12.
 */
final class AuthPlanTest {

    private static final String WRITER = "writer";
    private static final String ROOT = Authorisation.ROOT;
    private static final List<String> ROLES = List.of("app", "backup", "writing", ROOT);
    private static final List<String> USERS = List.of("ann", "ben", WRITER, ROOT);
    private static final List<GrantedRange> RANGES = List.of(range("/a", ""), range("/a", "/b"), range("\0x", "\0"));
    private static final List<PasswordHash> HASHES = List.of(
            PasswordHash.of("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
            PasswordHash.of("$2y$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK"));

    /** One case. */
    record Case(
            Authorisation source,
            Authorisation target,
            Brought brought,
            Map<String, PasswordHash> hashes,
            int stopsAt) {

        AuthPlan plan(ModelTarget now) {
            return AuthPlan.of(source, now.held(), now.brought(), hashes, WRITER);
        }
    }

    @Property(tries = 2_000)
    void copiedRolesAndUsersBecomeEqualToTheSource(@ForAll("cases") Case given) throws Exception {
        ModelTarget target = new ModelTarget(given.target(), given.brought());
        apply(given.plan(target).changes(), target);

        Set<String> roles = broughtAfterwards(
                given.source().roles().keySet(),
                given.target().roles().keySet(),
                given.brought().roles(),
                Set.of(ROOT));
        Set<String> users = broughtAfterwards(
                given.source().users().keySet(),
                given.target().users().keySet(),
                given.brought().users().keySet(),
                Set.of(ROOT, WRITER));
        assertThat(target.brought().roles()).isEqualTo(roles);
        assertThat(target.brought().users().keySet()).isEqualTo(users);
        for (String role : roles) {
            assertThat(target.held().roles()).containsEntry(role, given.source().grantsOf(role));
        }
        Set<String> known = with(roles, ROOT);
        for (String user : users) {
            assertThat(common(target.held().rolesOf(user), known))
                    .isEqualTo(common(given.source().rolesOf(user), known));
            PasswordHash hash = given.hashes().get(user);
            if (hash != null) {
                assertThat(target.password(user)).isEqualTo(hash.digest());
            }
        }
    }

    @Property(tries = 2_000)
    void aSecondPlanChangesNothing(@ForAll("cases") Case given) throws Exception {
        ModelTarget target = new ModelTarget(given.target(), given.brought());
        apply(given.plan(target).changes(), target);
        assertThat(given.plan(target).changes()).isEmpty();
    }

    @Property(tries = 2_000)
    void anInterruptedPlanIsCompletedByTheNext(@ForAll("cases") Case given) throws Exception {
        ModelTarget whole = new ModelTarget(given.target(), given.brought());
        apply(given.plan(whole).changes(), whole);

        ModelTarget cut = new ModelTarget(given.target(), given.brought());
        List<AuthTarget.Change> changes = given.plan(cut).changes();
        apply(changes.subList(0, Math.min(given.stopsAt(), changes.size())), cut);
        apply(given.plan(cut).changes(), cut);
        assertThat(cut.held()).isEqualTo(whole.held());
        assertThat(cut.brought()).isEqualTo(whole.brought());
    }

    @Property(tries = 2_000)
    void noUserEverHasMorePermissionsThanBeforeOrAfterwards(@ForAll("cases") Case given) throws Exception {
        ModelTarget target = new ModelTarget(given.target(), given.brought());
        List<AuthTarget.Change> changes = given.plan(target).changes();
        ModelTarget afterwards = new ModelTarget(given.target(), given.brought());
        apply(changes, afterwards);
        for (AuthTarget.Change change : changes) {
            change.applyTo(target);
            for (String user : target.held().users().keySet()) {
                Set<String> rights = rights(target.held(), user);
                assertThat(rights)
                        .satisfiesAnyOf(
                                some -> assertThat(rights(given.target(), user)).containsAll(some),
                                some -> assertThat(rights(afterwards.held(), user))
                                        .containsAll(some));
            }
        }
    }

    /** What a user may do, by the range and the kind of access. */
    private static Set<String> rights(Authorisation held, String user) {
        Set<String> rights = new HashSet<>();
        for (String role : held.rolesOf(user)) {
            held.grantsOf(role).forEach((range, type) -> {
                for (Permission.Type access : List.of(Permission.Type.READ, Permission.Type.WRITE)) {
                    if (type == access || type == Permission.Type.READWRITE) {
                        rights.add(access + " " + range);
                    }
                }
            });
        }
        return rights;
    }

    @Property(tries = 2_000)
    void rolesAndUsersOfTheTargetsOwnAreLeftAlone(@ForAll("cases") Case given) throws Exception {
        ModelTarget target = new ModelTarget(given.target(), given.brought());
        AuthPlan plan = given.plan(target);
        apply(plan.changes(), target);

        Set<String> deleted = given.brought().roles().stream()
                .filter(role -> !given.source().roles().containsKey(role))
                .collect(Collectors.toSet());
        given.target().roles().forEach((role, grants) -> {
            if (!given.brought().roles().contains(role)) {
                assertThat(target.held().roles()).containsEntry(role, grants);
            }
        });
        given.target().users().forEach((user, roles) -> {
            if (!given.brought().users().containsKey(user)) {
                // What is deleted etcd takes away from everybody.
                assertThat(target.held().users()).containsEntry(user, without(roles, deleted));
            }
        });
        assertThat(plan.usersLeftAlone())
                .isEqualTo(without(
                        without(
                                common(
                                        given.source().users().keySet(),
                                        given.target().users().keySet()),
                                given.brought().users().keySet()),
                        Set.of(ROOT, WRITER)));
        assertThat(plan.rolesLeftAlone())
                .isEqualTo(without(
                        without(
                                without(
                                        common(
                                                given.source().roles().keySet(),
                                                given.target().roles().keySet()),
                                        given.brought().roles()),
                                Set.of(ROOT)),
                        given.target().rolesOf(WRITER)));
    }

    @Provide
    Arbitrary<Case> cases() {
        return Combinators.combine(
                        authorisation(),
                        authorisation(),
                        Arbitraries.subsetOf("app", "backup", "writing"),
                        Arbitraries.maps(
                                        Arbitraries.of("ann", "ben"),
                                        Arbitraries.of("", HASHES.get(0).digest()))
                                .ofMaxSize(2),
                        Arbitraries.maps(Arbitraries.of("ann", "ben", ROOT, "zoe"), Arbitraries.of(HASHES))
                                .ofMaxSize(3),
                        Arbitraries.integers().between(0, 12))
                .as((source, target, roles, users, hashes, stopsAt) ->
                        new Case(source, target, new Brought(roles, users), hashes, stopsAt));
    }

    private static Arbitrary<Authorisation> authorisation() {
        Arbitrary<Permission.Type> types =
                Arbitraries.of(Permission.Type.READ, Permission.Type.WRITE, Permission.Type.READWRITE);
        Arbitrary<Map<String, Map<GrantedRange, Permission.Type>>> roles = Arbitraries.maps(
                        Arbitraries.of(ROLES),
                        Arbitraries.maps(Arbitraries.of(RANGES), types).ofMaxSize(RANGES.size()))
                .ofMaxSize(ROLES.size());
        Arbitrary<Map<String, Set<String>>> users = Arbitraries.maps(Arbitraries.of(USERS), Arbitraries.subsetOf(ROLES))
                .ofMaxSize(USERS.size());
        return Combinators.combine(roles, users).as((some, of) -> {
            Map<String, Set<String>> known = new HashMap<>();
            of.forEach((user, wanted) -> known.put(user, common(wanted, with(some.keySet(), ROOT))));
            return new Authorisation(some, known);
        });
    }

    /** At the source, and not the target's own. */
    private static Set<String> broughtAfterwards(
            Set<String> source, Set<String> target, Set<String> brought, Set<String> never) {
        return without(without(source, without(target, brought)), never);
    }

    private static void apply(List<AuthTarget.Change> changes, AuthTarget target) throws Exception {
        for (AuthTarget.Change change : changes) {
            change.applyTo(target);
        }
    }

    private static GrantedRange range(String from, String end) {
        return new GrantedRange(ByteString.copyFromUtf8(from), ByteString.copyFromUtf8(end));
    }

    private static Set<String> common(Set<String> some, Set<String> others) {
        Set<String> common = new HashSet<>(some);
        common.retainAll(others);
        return common;
    }

    private static Set<String> without(Set<String> some, Set<String> others) {
        Set<String> rest = new HashSet<>(some);
        rest.removeAll(others);
        return rest;
    }

    private static Set<String> with(Set<String> some, String one) {
        Set<String> more = new HashSet<>(some);
        more.add(one);
        return more;
    }
}
