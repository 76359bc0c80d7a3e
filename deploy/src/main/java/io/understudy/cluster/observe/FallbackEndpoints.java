package io.understudy.cluster.observe;

import io.understudy.etcd.Endpoint;
import java.util.List;

/**
 * Where members may be found whom the endpoints given don't lead to. Nothing but the configuration says that these are of
 * the cluster that is meant, and another may have been started at one of them: so they count only where so many voters of
 * one cluster answer there that it has been this one for long.
 *
 * @param voters that have to be healthy there, and to confirm who the members are
 */
public record Otherwise(List<Endpoint> endpoints, int voters) {

    /** One alone is no cluster that has replaced its members. */
    private static final int LEAST_VOTERS = 2;

    public static final Otherwise NOWHERE = new Otherwise(List.of(), LEAST_VOTERS);

    public Otherwise {
        endpoints = List.copyOf(endpoints);
    }

    /**
     * One voter alone will do: for an operator who confirms each step of a recovery, which leaves no more, and for whom any
     * that answers is one too many.
     */
    public Otherwise believed() {
        return new Otherwise(endpoints, 1);
    }

    /** For a cluster that is to have so many voters: most of them have to answer. */
    public static Otherwise ofMost(List<Endpoint> endpoints, int voters) {
        return new Otherwise(endpoints, Math.max(voters / 2 + 1, LEAST_VOTERS));
    }

    boolean isKnown() {
        return !endpoints.isEmpty();
    }

    boolean has(Sight sight) {
        return sight.isConfirmed() && sight.healthyVotersAt(endpoints) >= voters;
    }

    @Override
    public String toString() {
        return endpoints.toString();
    }
}
