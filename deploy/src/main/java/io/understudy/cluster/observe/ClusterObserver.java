package io.understudy.cluster.observe;

import java.time.Duration;

/** Looks at a cluster. Every look asks anew; nothing is remembered but where members were found. */
public interface ClusterObserver {

    /**
     * Asks all members, at once, each for itself.
     *
     * @param patience for everything together; who has not answered by then counts as not answering
     * @throws UnobservableException nobody answered, or the endpoints are of different clusters
     */
    ClusterFacts observe(Duration patience) throws InterruptedException;
}
