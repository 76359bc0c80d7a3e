package io.understudy.gateway.dashboard;

import io.understudy.etcd.Health;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** The quorum of the voters as this gateway sees it. */
enum QuorumState {
    /** It confirms revisions, or a majority of voters is healthy. */
    HELD,
    /** Voters respond, but without a quorum. */
    LOST,
    /** No voter answers: the voters or the network have failed. */
    UNREACHABLE,
    /** Not queried yet. */
    UNKNOWN;

    /**
     * Only a quorum confirms revisions, whatever single members report. With the second until the next sample, a lost
     * quorum is seen within three.
     */
    private static final Duration CONFIRMED = Duration.ofMillis(1_500);

    /**
     * Returns the state by the last confirmation and the health of the voters.
     *
     * @param unconfirmed time since the last confirmed revision
     * @param voters their last known health
     */
    static QuorumState of(Duration unconfirmed, List<Health> voters) {
        if (unconfirmed.compareTo(CONFIRMED) < 0) {
            return HELD;
        }
        if (voters.stream().allMatch(Health.UNKNOWN::equals)) {
            return UNKNOWN;
        }
        if (2 * voters.stream().filter(Health.HEALTHY::equals).count() > voters.size()) {
            return HELD;
        }
        return voters.stream().anyMatch(health -> health == Health.HEALTHY || health == Health.LEADERLESS)
                ? LOST
                : UNREACHABLE;
    }

    /** Returns the word of the overview. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
