package io.understudy.mirror.auth;

import java.util.Map;
import java.util.Set;

/**
 * The roles and users that a mirror has at least started to copy.
 *
 * @param users by name, with the digest of the hash that is their password; empty for none
 */
record Brought(Set<String> roles, Map<String, String> users) {

    Brought {
        roles = Set.copyOf(roles);
        users = Map.copyOf(users);
    }

    boolean isEmpty() {
        return roles.isEmpty() && users.isEmpty();
    }
}
