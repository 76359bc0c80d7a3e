package io.understudy.gateway.permission;

import io.etcd.jetcd.api.Permission;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Reads users and roles. Results fail if they are unknown. Thread-safe. */
interface RoleSource {

    /** Returns the revision of users and roles; every change increases it. */
    CompletableFuture<Long> revision();

    /** Returns the names of a user's roles; empty if there is no such user. */
    CompletableFuture<Optional<List<String>>> rolesOf(String user);

    /** Returns the permissions of a role; none if there is no such role. */
    CompletableFuture<List<Permission>> permissionsOf(String role);
}
