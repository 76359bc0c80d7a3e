package io.understudy.gateway.read;

import io.understudy.etcd.Role;
import io.understudy.gateway.api.OpResult;
import io.understudy.gateway.caller.Caller.Freshness;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The result of a read, with its metadata.
 *
 * @param revision of the answer's header
 * @param staleness of the state that was read, measured by a read index; zero if that was sent after the request
 *     arrived; null when unknown
 */
public record Answer<R extends OpResult>(
        R result, long revision, @Nullable Duration staleness, Provenance provenance) {

    /** Returns this answer with zero staleness: the state was confirmed after the request arrived. */
    Answer<R> asOfArrival() {
        return new Answer<>(result, revision, Duration.ZERO, provenance);
    }

    /** gRPC metadata key or HTTP header of the revision. */
    public static final String REVISION_KEY = "understudy-revision";

    /** gRPC metadata key or HTTP header of the staleness in milliseconds; absent if unknown. */
    public static final String STALENESS_KEY = "understudy-staleness-ms";

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
}
