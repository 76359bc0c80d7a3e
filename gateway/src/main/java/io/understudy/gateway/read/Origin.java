package io.understudy.gateway.read;

import io.understudy.etcd.Role;

/** Who had what was asked for. */
enum Origin {
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
}
