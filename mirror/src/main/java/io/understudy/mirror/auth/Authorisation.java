package io.understudy.mirror.auth;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Permission;
import java.util.Map;
import java.util.Set;

/**
 * Roles and users of a cluster, without passwords.
 *
 * @param roles by name, with their grants
 * @param users by name, with the names of their roles
 */
record Authorisation(Map<String, Map<GrantedRange, Permission.Type>> roles, Map<String, Set<String>> users) {

    /** The user and the role with special treatment in etcd. */
    static final String ROOT = "root";

    Authorisation {
        roles = Map.copyOf(roles);
        users = Map.copyOf(users);
    }

    /** Whether there is nothing but root. */
    boolean isEmpty() {
        return Set.of(ROOT).containsAll(roles.keySet()) && Set.of(ROOT).containsAll(users.keySet());
    }

    Map<GrantedRange, Permission.Type> grantsOf(String role) {
        return roles.getOrDefault(role, Map.of());
    }

    Set<String> rolesOf(String user) {
        return users.getOrDefault(user, Set.of());
    }

    /**
     * The range of a grant. Several grants of one role for one range are all effective.
     *
     * @param end end of the range in etcd's form: empty for one key, a zero byte for all from {@code key} on
     */
    record GrantedRange(ByteString key, ByteString end) {}
}
