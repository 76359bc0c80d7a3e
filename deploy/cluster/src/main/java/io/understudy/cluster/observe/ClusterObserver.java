package io.understudy.cluster.observe;

import java.time.Duration;
import java.util.Optional;

/** Observes a cluster; keeps only addresses and counters of earlier observations. */
public interface ClusterObserver {

    /**
     * Reads the state of all members concurrently, from each member itself.
     *
     * @param patience total timeout; a member without a response by then does not respond
     * @throws UnobservableException no member responded, or the endpoints are of different clusters
     */
    ClusterFacts observe(Duration patience) throws InterruptedException;

    /**
     * Reads only the metrics pages of a cluster without recent faults.
     *
     * @return empty if {@link #observe} is required
     */
    default Optional<ClusterFacts> glance(Duration patience) throws InterruptedException {
        return Optional.empty();
    }
}
