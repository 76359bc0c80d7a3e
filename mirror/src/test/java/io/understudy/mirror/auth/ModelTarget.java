package io.understudy.mirror.auth;

import io.etcd.jetcd.api.Permission;
import io.understudy.mirror.auth.AuthRegister.Brought;
import io.understudy.mirror.auth.Authorisation.GrantedRange;
import io.understudy.mirror.auth.PasswordFile.PasswordHash;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** A target as etcd keeps one, with the register beside it. What etcd would refuse is an error. */
final class ModelTarget implements AuthTarget {

    private final Map<String, Map<GrantedRange, Permission.Type>> roles = new HashMap<>();
    private final Map<String, Set<String>> users = new HashMap<>();
    private final Map<String, String> passwords = new HashMap<>();
    private final Set<String> broughtRoles;
    private final Map<String, String> broughtUsers;

    ModelTarget(Authorisation held, Brought brought) {
        held.roles().forEach((role, grants) -> roles.put(role, new HashMap<>(grants)));
        held.users().forEach((user, of) -> users.put(user, new HashSet<>(of)));
        this.broughtRoles = new HashSet<>(brought.roles());
        this.broughtUsers = new HashMap<>(brought.users());
        brought.users().forEach((user, digest) -> {
            if (users.containsKey(user)) {
                passwords.put(user, digest);
            }
        });
    }

    Authorisation held() {
        Map<String, Map<GrantedRange, Permission.Type>> grants = new HashMap<>();
        roles.forEach((role, each) -> grants.put(role, Map.copyOf(each)));
        Map<String, Set<String>> of = new HashMap<>();
        users.forEach((user, each) -> of.put(user, Set.copyOf(each)));
        return new Authorisation(grants, of);
    }

    Brought brought() {
        return new Brought(broughtRoles, broughtUsers);
    }

    /** The digest of the user's password; empty for an unknown password, null for that of a foreign user. */
    String password(String user) {
        return passwords.getOrDefault(user, "of somebody else");
    }

    @Override
    public void addRole(String role) {
        broughtRoles.add(role);
        require(!roles.containsKey(role), "role name already exists");
        roles.put(role, new HashMap<>());
    }

    @Override
    public void grant(String role, GrantedRange range, Permission.Type type) {
        require(roles.containsKey(role), "role name not found");
        roles.get(role).put(range, type);
    }

    @Override
    public void revoke(String role, GrantedRange range) {
        require(roles.containsKey(role), "role name not found");
        require(roles.get(role).remove(range) != null, "permission is not granted to the role");
    }

    @Override
    public void deleteRole(String role) {
        roles.remove(role);
        users.values().forEach(of -> of.remove(role));
        broughtRoles.remove(role);
    }

    @Override
    public void addUser(String user) {
        broughtUsers.put(user, "");
        require(!users.containsKey(user), "user name already exists");
        users.put(user, new HashSet<>());
        passwords.put(user, "");
    }

    @Override
    public void giveRole(String user, String role) {
        require(users.containsKey(user), "user name not found");
        require(role.equals(Authorisation.ROOT) || roles.containsKey(role), "role name not found");
        users.get(user).add(role);
    }

    @Override
    public void takeRole(String user, String role) {
        require(users.containsKey(user), "user name not found");
        require(users.get(user).remove(role), "role is not granted to the user");
    }

    @Override
    public void setPassword(String user, PasswordHash hash) {
        require(users.containsKey(user), "user name not found");
        passwords.put(user, hash.digest());
        broughtUsers.put(user, hash.digest());
    }

    @Override
    public void deleteUser(String user) {
        users.remove(user);
        passwords.remove(user);
        broughtUsers.remove(user);
    }

    private static void require(boolean isSo, String refusal) {
        if (!isSo) {
            throw new IllegalStateException(refusal);
        }
    }
}
