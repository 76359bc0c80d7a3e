package io.understudy.mirror.takeover;

import io.understudy.etcd.Credentials;
import io.understudy.mirror.home.Move.Grant;
import io.understudy.vocabulary.KeyRange;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Users of a cluster that can write mirrored keys: those that stay able to while it is closed, and clients.
 *
 * @param exempt users that may write while the cluster is closed: of the mirror, and of the command
 * @param mirror the mirror's user and password at the cluster; null for none
 */
record ClosingUsers(
        TakeOverCalls cluster, Set<String> exempt, @Nullable Credentials mirror, ClosedRanges keys) {

    private static final String ROOT = "root";
    private static final int PASSWORD_BYTES = 24;

    /** The mirror's, without which it could not write while clients cannot. */
    Credentials requireLogin() {
        Credentials login = mirror;
        if (login == null) {
            throw new TakeOverException("the mirror has no user at " + cluster.shown()
                    + ": set user and password of this cluster in the mirror's configuration, so that the mirror can"
                    + " write while clients cannot");
        }
        return login;
    }

    /** Requires the mirror's own user. With authentication enabled, another one could not log in, not even to undo. */
    Credentials requireOwnLogin() {
        Credentials login = requireLogin();
        Credentials own = cluster.login();
        if (own != null && (!own.user().equals(login.user()) || !own.password().equals(login.password()))) {
            throw new TakeOverException("user " + own.user() + " of this command cannot log in at " + cluster.shown()
                    + " once authentication is enabled there for the mirror's user " + login.user()
                    + " alone: run the command without a user for this cluster (--source-user or --target-user,"
                    + " UNDERSTUDY_SOURCE_USER or UNDERSTUDY_TARGET_USER)");
        }
        return login;
    }

    List<String> others() {
        Credentials login = mirror;
        return cluster.users().stream()
                .filter(user -> !user.equals(ROOT) && (login == null || !user.equals(login.user())))
                .toList();
    }

    String shown(List<String> others) {
        return cluster.shown() + " has users besides root and the mirror's: " + String.join(", ", others);
    }

    /** Users with the role root bypass roles; roles that the mirror shares with clients cannot be revoked. */
    void requireExempt() {
        Credentials login = requireLogin();
        Map<String, List<String>> usersOf = usersOf();
        List<String> problems = notExempt(usersOf);
        if (!problems.isEmpty()) {
            throw new TakeOverException(String.join(". ", problems));
        }
        List<String> roles = usersOf.entrySet().stream()
                .filter(role -> role.getValue().contains(login.user()))
                .map(Map.Entry::getKey)
                .toList();
        List<KeyRange> written = new RoleChanges(cluster)
                .grants(roles.stream().filter(role -> !role.equals(ROOT)).toList()).values().stream()
                        .flatMap(grants -> grants.stream().filter(keys::writes))
                        .map(grant -> KeyRange.ofEtcd(grant.key(), grant.end()))
                        .toList();
        if (!roles.contains(ROOT)
                && !keys.ranges().stream().allMatch(range -> written.stream().anyMatch(each -> each.covers(range)))) {
            throw new TakeOverException("user " + login.user() + " cannot write the mirrored keys at " + cluster.shown()
                    + ": grant its role read and write access to them, so that the mirror can run in both directions");
        }
    }

    /** All that cannot be closed by roles; nothing if the user of the calls may not read users and roles. */
    List<String> problems() {
        try {
            return notExempt(usersOf());
        } catch (TakeOverException e) {
            if (Records.isDenied(e)) {
                return List.of();
            }
            throw e;
        }
    }

    private Map<String, List<String>> usersOf() {
        Map<String, List<String>> usersOf = new LinkedHashMap<>();
        cluster.together(cluster.users(), cluster::rolesOf)
                .forEach((user, roles) ->
                        roles.forEach(role -> usersOf.computeIfAbsent(role, unknown -> new ArrayList<>())
                                .add(user)));
        return usersOf;
    }

    private List<String> notExempt(Map<String, List<String>> usersOf) {
        List<String> problems = new ArrayList<>();
        List<String> roots = usersOf.getOrDefault(ROOT, List.of()).stream()
                .filter(user -> !exempt.contains(user))
                .toList();
        if (!roots.isEmpty()) {
            problems.add("users with the role root can write at " + cluster.shown() + " whatever is revoked: "
                    + String.join(", ", roots) + ". Revoke the role root, or run the command as that user");
        }
        List<String> shared = cluster.roles().stream()
                .filter(role -> !role.equals(ROOT))
                .filter(role -> {
                    List<String> users = usersOf.getOrDefault(role, List.of());
                    return users.stream().anyMatch(exempt::contains) && !exempt.containsAll(users);
                })
                .toList();
        new RoleChanges(cluster).grants(shared).forEach((role, grants) -> {
            if (grants.stream().anyMatch(keys::writes)) {
                problems.add("role " + role + " at " + cluster.shown() + " is shared by the mirror and clients: "
                        + String.join(", ", usersOf.getOrDefault(role, List.of()))
                        + ". Give the mirror's user a role of its own");
            }
        });
        return problems;
    }

    /** All permissions of each client role that can write the range. */
    List<Grant> writable() {
        List<List<String>> names = cluster.together(List.of(cluster::users, cluster::roles));
        Set<String> exemptRoles = new HashSet<>(Set.of(ROOT));
        cluster.together(names.get(0).stream().filter(exempt::contains).toList(), cluster::rolesOf)
                .values()
                .forEach(exemptRoles::addAll);
        return new RoleChanges(cluster)
                        .grants(names.get(1).stream()
                                .filter(role -> !exemptRoles.contains(role))
                                .toList())
                        .values()
                        .stream()
                        .filter(grants -> grants.stream().anyMatch(keys::writes))
                        .flatMap(List::stream)
                        .toList();
    }

    void addUsers() {
        Credentials login = requireOwnLogin();
        cluster.addRoot(login.user(), login.password());
        if (!login.user().equals(ROOT)) {
            // etcd requires it; its password is not kept.
            byte[] password = new byte[PASSWORD_BYTES];
            new SecureRandom().nextBytes(password);
            cluster.addRoot(ROOT, HexFormat.of().formatHex(password));
        }
    }
}
