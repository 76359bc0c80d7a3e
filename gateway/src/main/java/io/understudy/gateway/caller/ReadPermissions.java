package io.understudy.gateway.caller;

import io.understudy.vocabulary.KeyRange;
import io.vertx.core.Future;

/** The one place that decides who may read what. Asked for every range of every read, before it is evaluated. */
@FunctionalInterface
public interface ReadPermissions {

    /** Everybody may read everything: the source's permissions are not enforced. */
    ReadPermissions EVERYTHING = (principal, range) -> Future.succeededFuture();

    /**
     * Succeeds if {@code principal} may read all of {@code range}; fails with the error to answer otherwise. Asked, and
     * answered, on the caller's event loop.
     */
    Future<Void> check(Principal principal, KeyRange range);
}
