package io.understudy.bench;

/**
 * A peer with which the gateway is compared.
 *
 * @param atMost goal of the gateway's CPU time per request as a share of the peer's; infinite for none
 */
record Target(ServerPath peer, double atMost) {

    static Target shown(ServerPath peer) {
        return new Target(peer, Double.POSITIVE_INFINITY);
    }

    Goal cpu() {
        return Goal.atMost(Figure.CPU_PER_REQUEST, peer, atMost);
    }

    /** The goal at equal load. */
    Goal p99() {
        return Goal.atMost(Figure.P99_MILLIS, peer, Double.isInfinite(atMost) ? atMost : 1);
    }
}
