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

    /** The cluster has no state that can be reported. The message names the endpoints and their responses. */
    final class UnobservableException extends RuntimeException {

        private enum Cause {
            SILENCE,
            REJECTION,
            CONTRADICTION,
            UNCLEAR
        }

        private final Cause cause;

        /** Creates the exception of endpoints without a response. */
        public UnobservableException(String message) {
            this(message, Cause.SILENCE);
        }

        private UnobservableException(String message, Cause cause) {
            super(message);
            this.cause = cause;
        }

        /** An endpoint rejected the requests; its cluster may have a quorum. */
        public static UnobservableException rejected(String message) {
            return new UnobservableException(message, Cause.REJECTION);
        }

        /** The answers do not name the members. */
        static UnobservableException unclear(String message) {
            return new UnobservableException(message, Cause.UNCLEAR);
        }

        /** The answers are of different clusters. */
        static UnobservableException contradictory(String message) {
            return new UnobservableException(message, Cause.CONTRADICTION);
        }

        /** Whether members of different clusters answered. */
        public boolean isContradiction() {
            return cause == Cause.CONTRADICTION;
        }

        /** Whether an endpoint rejected the requests. */
        public boolean isRejection() {
            return cause == Cause.REJECTION;
        }

        /** Whether no endpoint responded, except for want of a quorum. */
        public boolean isSilence() {
            return cause == Cause.SILENCE;
        }
    }
}
