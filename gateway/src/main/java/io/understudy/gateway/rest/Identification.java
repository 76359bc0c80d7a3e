package io.understudy.gateway.rest;

import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;

/** Finds out whom requests are from. For any event loop. */
final class Identification {

    private final Logins logins;

    Identification(Logins logins) {
        this.logins = logins;
    }

    /** What is done then. */
    @FunctionalInterface
    interface Identified {
        void serve(Principal who) throws Problem;
    }

    /**
     * Has {@code then} serve whom the request is from, once that is known, or refuses the request. A token of ours that has
     * become invalid is replaced once.
     */
    void then(RestExchange exchange, Session session, Identified then) {
        String authorization = exchange.request().getHeader("Authorization");
        Principal otherwise = session.peer();
        logins.who(authorization, otherwise)
                .onSuccess(who -> {
                    exchange.onInvalidToken(() -> {
                        if (logins.forget(authorization)) {
                            logins.who(authorization, otherwise)
                                    .onSuccess(anew -> guarded(exchange, then, anew))
                                    .onFailure(exchange::fail);
                            return true;
                        }
                        return false;
                    });
                    guarded(exchange, then, who);
                })
                .onFailure(exchange::fail);
    }

    private static void guarded(RestExchange exchange, Identified then, Principal who) {
        try {
            then.serve(who);
        } catch (Problem e) {
            exchange.refuse(e);
        } catch (RuntimeException e) {
            exchange.fail(e);
        }
    }
}
