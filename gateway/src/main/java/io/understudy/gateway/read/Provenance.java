package io.understudy.gateway.read;

import io.understudy.etcd.Role;
import io.understudy.gateway.caller.Freshness;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/** Consistency and origin of an answer. Instances are shared, so that reads allocate none. */
public record Provenance(Consistency consistency, Origin origin) {

    private static final Map<Consistency, Map<Origin, Provenance>> ALL = new EnumMap<>(Consistency.class);

    static {
        for (Consistency consistency : Consistency.values()) {
            Map<Origin, Provenance> each = new EnumMap<>(Origin.class);
            for (Origin origin : Origin.values()) {
                each.put(origin, new Provenance(consistency, origin));
            }
            ALL.put(consistency, each);
        }
    }

    static Provenance of(Consistency consistency, Origin origin) {
        Map<Origin, Provenance> each = Objects.requireNonNull(ALL.get(consistency));
        return Objects.requireNonNull(each.get(origin));
    }

    /** The kind of server that returned an answer. */
    public enum Origin {
        REPLICA,
        LEARNER,
        GATEWAY,
        VOTER;

        static Origin of(Role role) {
            return switch (role) {
                case LEARNER -> LEARNER;
                case GATEWAY -> GATEWAY;
                case VOTER -> VOTER;
            };
        }

        /** Name in metrics and headers. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

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
}
