package io.understudy.gateway.read;

import io.understudy.gateway.caller.Freshness;
import java.util.Locale;

/** How current an answer was asked to be. */
public enum Consistency {
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

    /** As it is told. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
