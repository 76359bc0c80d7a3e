package io.understudy.gateway.read;

import io.understudy.gateway.caller.Freshness;
import java.util.Locale;

/** The requested consistency of a read. */
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

    /** Name in metrics and headers. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
