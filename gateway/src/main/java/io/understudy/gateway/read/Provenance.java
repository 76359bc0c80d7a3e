package io.understudy.gateway.read;

import java.util.EnumMap;
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
}
