package io.understudy.gateway.read;

import io.understudy.etcd.Role;
import java.util.Locale;

/** Who had what was asked for. */
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

    /** As it is told. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
