package io.understudy.cluster.observe;

import io.understudy.etcd.Endpoint;
import java.util.List;

/**
 * Further endpoints, for members that the configured endpoints do not lead to.
 *
 * <p>Only the configuration assigns them to the cluster, and another one may have been started there. So they count
 * only if enough voters of one cluster respond there.
 *
 * @param voters that have to be healthy there and to confirm the member list
 */
public record FallbackEndpoints(List<Endpoint> endpoints, int voters) {

    /** A single voter may be another cluster. */
    private static final int LEAST_VOTERS = 2;

    public static final FallbackEndpoints NOWHERE = new FallbackEndpoints(List.of(), LEAST_VOTERS);

    public FallbackEndpoints {
        endpoints = List.copyOf(endpoints);
    }

    /** Accepts a single voter, all that a recovery leaves; its operator confirms each step. */
    public FallbackEndpoints acceptingOneVoter() {
        return new FallbackEndpoints(endpoints, 1);
    }

    /** Returns endpoints of which a majority of that many voters must respond. */
    public static FallbackEndpoints ofMost(List<Endpoint> endpoints, int voters) {
        return new FallbackEndpoints(endpoints, Math.max(voters / 2 + 1, LEAST_VOTERS));
    }

    boolean isKnown() {
        return !endpoints.isEmpty();
    }

    boolean has(ClusterFactsBuilder facts) {
        return facts.isConfirmed() && facts.healthyVotersAt(endpoints) >= voters;
    }

    @Override
    public String toString() {
        return endpoints.toString();
    }
}
