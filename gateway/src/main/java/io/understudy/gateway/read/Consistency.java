package io.understudy.gateway.read;

import io.understudy.gateway.caller.Freshness;

/** How current an answer was asked to be. */
enum Consistency {
    SERIALIZABLE,
    BOUNDED,
    AT_LEAST,
    LINEARIZABLE;

    static Consistency of(boolean linearizable, Freshness freshness) {
        if (linearizable) {
            return LINEARIZABLE;
        }
        if (freshness.maxStaleness() != null) {
            return BOUNDED;
        }
        return freshness.minRevision() > 0 ? AT_LEAST : SERIALIZABLE;
    }
}
