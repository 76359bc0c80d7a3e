package io.understudy.gateway.dashboard;

import io.understudy.etcd.Health;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** The quorum of the voters as this gateway sees it. */
enum QuorumState {
    /** It confirms revisions, or enough voters are healthy. */
    HELD,
    /** Voters answer that have none. */
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
     * Judges by what is known.
     *
     * @param unconfirmed since a quorum confirmed a revision last
     * @param voters as they were seen last
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

    /** As the overview has it. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
