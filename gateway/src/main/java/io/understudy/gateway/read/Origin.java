package io.understudy.gateway.read;

import io.understudy.etcd.Role;
import java.util.Locale;

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
