package io.understudy.gateway.caller;

import io.understudy.gateway.api.Permission;
import io.vertx.core.Future;

/** The one place that decides who may read what. Asked for every range of every read, before it is evaluated. */
@FunctionalInterface
public interface ReadPermissions {

    /** Everybody may do everything: the source has no permissions that could be enforced. */
    ReadPermissions EVERYTHING = (principal, wanted) -> Future.succeededFuture();

    /**
     * Succeeds if {@code principal} has what is wanted; fails with the {@link io.understudy.gateway.api.ApiException} to
     * answer otherwise, which is {@code UNAVAILABLE} if nobody could tell. Asked, and answered, on the caller's event loop.
     */
    Future<Void> check(Principal principal, Permission wanted);

    /** Whether who is being told what he was permitted to read has to be asked about again and again. From any thread. */
    default boolean areRechecked() {
        return false;
    }
}
