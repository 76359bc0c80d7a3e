package io.understudy.gateway.caller;

import io.understudy.gateway.api.Permission;
import io.vertx.core.Future;

/** Authorizes reads. Called for every range of every read, before evaluation. */
@FunctionalInterface
public interface ReadPermissions {

    /** Permits everything, for a source without enforceable permissions. */
    ReadPermissions EVERYTHING = (principal, wanted) -> Future.succeededFuture();

    /**
     * Succeeds if {@code principal} has the permission. Otherwise fails with the {@link
     * io.understudy.gateway.api.ApiException} for the client, {@code UNAVAILABLE} if the permission is unknown. Called
     * and completed on the caller's event loop.
     */
    Future<Void> check(Principal principal, Permission wanted);

    /** Whether permissions of open watches are rechecked. Thread-safe. */
    default boolean areRechecked() {
        return false;
    }
}
