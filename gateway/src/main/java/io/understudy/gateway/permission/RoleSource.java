package io.understudy.gateway.permission;

import io.etcd.jetcd.api.Permission;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Where users and roles are read. Answers fail if nobody can tell. For any thread. */
interface RoleSource {

    /** Of users and roles: another after each change of any of them. */
    CompletableFuture<Long> revision();

    /** The names of a user's roles; empty if there is no such user. */
    CompletableFuture<Optional<List<String>>> rolesOf(String user);

    /** What a role permits; nothing if there is no such role. */
    CompletableFuture<List<Permission>> permissionsOf(String role);
}
