package io.understudy.gateway.permission;

import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import java.util.concurrent.CompletableFuture;

/** Knows who may do what where authentication is enabled. For any thread. */
interface Oracle<P extends Principal> {

    /** Fails if nobody can tell; completed on any thread, which must not be held up. */
    CompletableFuture<Verdict> ask(P principal, Permission wanted);
}
