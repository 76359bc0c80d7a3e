package io.understudy.cluster.observe;

import java.time.Duration;
import java.util.Optional;

/** Observes a cluster. Of earlier observations only addresses and counters are kept. */
public interface ClusterObserver {

    /**
     * Reads the state of all members concurrently, from each member itself.
     *
     * @param patience for everything together; a member without a response by then does not respond
     * @throws UnobservableException no member responded, or the endpoints are of different clusters
     */
    ClusterFacts observe(Duration patience) throws InterruptedException;

    /**
     * Reads the metrics pages only, for a cluster in which the last observations found no fault.
     *
     * @return empty if that does not suffice: then {@link #observe} is due
     */
    default Optional<ClusterFacts> glance(Duration patience) throws InterruptedException {
        return Optional.empty();
    }
}
