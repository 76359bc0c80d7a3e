package io.understudy.gateway.rest;

import io.understudy.gateway.caller.Principal;

/** Identifies the callers of requests. Thread-safe. */
final class Identification {

    private final Logins logins;

    Identification(Logins logins) {
        this.logins = logins;
    }

    /** Serves the identified caller. */
    @FunctionalInterface
    interface Identified {
        void serve(Principal principal) throws ProblemDetails;
    }

    /** Passes the caller's identity to {@code then}, or rejects the request. Renews an invalid gateway token once. */
    void then(RestExchange exchange, Identified then) {
        String authorization = exchange.header("authorization");
        Principal otherwise = exchange.peer();
        String client = exchange.client();
        logins.principal(authorization, otherwise, client)
                .onSuccess(principal -> {
                    exchange.onInvalidToken(() -> {
                        if (logins.forget(authorization)) {
                            logins.principal(authorization, otherwise, client)
                                    .onSuccess(renewed -> guarded(exchange, then, renewed))
                                    .onFailure(exchange::fail);
                            return true;
                        }
                        return false;
                    });
                    guarded(exchange, then, principal);
                })
                .onFailure(exchange::fail);
    }

    private static void guarded(RestExchange exchange, Identified then, Principal principal) {
        try {
            then.serve(principal);
        } catch (ProblemDetails e) {
            exchange.refuse(e);
        } catch (RuntimeException e) {
            exchange.fail(e);
        }
    }
}
