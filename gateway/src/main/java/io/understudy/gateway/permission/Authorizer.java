package io.understudy.gateway.permission;

import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import java.util.concurrent.CompletableFuture;

/** Decides whether a principal has a permission while authentication is enabled. Thread-safe. */
interface Authorizer<P extends Principal> {

    /** Fails if the verdict is unknown. Completes on any thread, which must not be blocked. */
    CompletableFuture<Verdict> authorize(P principal, Permission wanted);
}
