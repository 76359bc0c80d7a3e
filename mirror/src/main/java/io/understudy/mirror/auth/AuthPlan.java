package io.understudy.mirror.auth;

import io.etcd.jetcd.api.Permission;
import io.understudy.mirror.auth.AuthRegister.Brought;
import io.understudy.mirror.auth.Authorisation.GrantedRange;
import io.understudy.mirror.auth.PasswordFile.PasswordHash;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The changes that make a target's copied roles and users equal to the source's. It leaves alone the target's own roles
 * and users, the user and role root, and the mirror's user. Users with the role root at the source get it in the
 * target.
 *
 * <p>Invariant M12: copied roles, grants and users equal the source's after any change or interruption; root and the
 * target's own stay unchanged.
 *
 * @param changes in order: revocations precede grants, so that an interruption never leaves a user with excess
 *     permissions
 * @param rolesLeftAlone the target's own roles with names of source roles
 * @param usersLeftAlone likewise
 */
record AuthPlan(List<AuthTarget.Change> changes, Set<String> rolesLeftAlone, Set<String> usersLeftAlone) {

    AuthPlan {
        changes = List.copyOf(changes);
        rolesLeftAlone = Set.copyOf(rolesLeftAlone);
        usersLeftAlone = Set.copyOf(usersLeftAlone);
    }

    /**
     * Returns the changes for the given states.
     *
     * @param brought to the target by this mirror
     * @param hashes of passwords, by user
     * @param writer the target's user that the mirror writes as; empty for none
     */
    static AuthPlan of(
            Authorisation source,
            Authorisation target,
            Brought brought,
            Map<String, PasswordHash> hashes,
            String writer) {
        return new Planning(source, target, brought, hashes, writer).plan();
    }

    private static final class Planning {
        private final Authorisation source;
        private final Authorisation target;
        private final Brought brought;
        private final Map<String, PasswordHash> hashes;
        private final Set<String> writersRoles;
        private final Set<String> apartUsers;
        private final Set<String> rolesLeft = new TreeSet<>();
        private final Set<String> usersLeft = new TreeSet<>();
        private final List<AuthTarget.Change> taken = new ArrayList<>();
        private final List<AuthTarget.Change> given = new ArrayList<>();

        Planning(
                Authorisation source,
                Authorisation target,
                Brought brought,
                Map<String, PasswordHash> hashes,
                String writer) {
            this.source = source;
            this.target = target;
            this.brought = brought;
            this.hashes = hashes;
            this.writersRoles = target.rolesOf(writer);
            this.apartUsers = new HashSet<>(List.of(Authorisation.ROOT, writer));
        }

        AuthPlan plan() {
            Set<String> roles = roles();
            Set<String> users = users();
            without(without(brought.users().keySet(), users), apartUsers)
                    .forEach(user -> taken.add(to -> to.deleteUser(user)));
            without(brought.roles(), roles).forEach(role -> taken.add(to -> to.deleteRole(role)));
            roles.forEach(this::addRole);
            users.forEach(user -> addUser(user, roles));
            List<AuthTarget.Change> changes = new ArrayList<>(taken);
            changes.addAll(given);
            return new AuthPlan(changes, rolesLeft, usersLeft);
        }

        /** Returns the roles to keep equal to the source's. */
        private Set<String> roles() {
            Set<String> roles = new TreeSet<>();
            for (String role : source.roles().keySet()) {
                boolean isOwn =
                        target.roles().containsKey(role) && !brought.roles().contains(role);
                if (role.equals(Authorisation.ROOT) || (isOwn && writersRoles.contains(role))) {
                    continue;
                }
                (isOwn ? rolesLeft : roles).add(role);
            }
            return roles;
        }

        private Set<String> users() {
            Set<String> users = new TreeSet<>();
            for (String user : source.users().keySet()) {
                if (!apartUsers.contains(user)) {
                    boolean isOwn =
                            target.users().containsKey(user) && !brought.users().containsKey(user);
                    (isOwn ? usersLeft : users).add(user);
                }
            }
            return users;
        }

        private void addRole(String role) {
            if (!target.roles().containsKey(role)) {
                given.add(to -> to.addRole(role));
            }
            Map<GrantedRange, Permission.Type> wanted = source.grantsOf(role);
            Map<GrantedRange, Permission.Type> held = target.grantsOf(role);
            held.forEach((range, type) -> {
                if (!allows(wanted.get(range), type)) {
                    taken.add(to -> to.revoke(role, range));
                }
            });
            wanted.forEach((range, type) -> {
                if (held.get(range) != type) {
                    given.add(to -> to.grant(role, range, type));
                }
            });
        }

        /**
         * Whether the held grant may stay. A narrower grant need not replace it: if several start at one key, etcd may
         * add it beside them.
         */
        private static boolean allows(Permission.@Nullable Type wanted, Permission.Type held) {
            return wanted == held || wanted == Permission.Type.READWRITE;
        }

        private void addUser(String user, Set<String> roles) {
            boolean isNew = !target.users().containsKey(user);
            if (isNew) {
                given.add(to -> to.addUser(user));
            }
            Set<String> wanted = source.rolesOf(user);
            Set<String> held = target.rolesOf(user);
            // What was brought in a role is known to be the same; the target's own roles are its own to give.
            Set<String> ours = new TreeSet<>(roles);
            ours.add(Authorisation.ROOT);
            for (String role : ours) {
                if (wanted.contains(role) && !held.contains(role)) {
                    given.add(to -> to.giveRole(user, role));
                } else if (!wanted.contains(role) && held.contains(role)) {
                    taken.add(to -> to.takeRole(user, role));
                }
            }
            PasswordHash hash = hashes.get(user);
            if (hash != null && (isNew || !hash.digest().equals(brought.users().get(user)))) {
                given.add(to -> to.setPassword(user, hash));
            }
        }

        private static <T> Set<T> without(Collection<T> all, Set<T> some) {
            Set<T> rest = new HashSet<>(all);
            rest.removeAll(some);
            return rest;
        }
    }
}
