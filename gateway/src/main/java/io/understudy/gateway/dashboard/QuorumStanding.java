package io.understudy.gateway.dashboard;

import io.understudy.etcd.Health;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** What can be said from here of the voters' quorum. */
enum QuorumStanding {
    /** It confirms revisions, or enough voters are healthy. */
    HELD,
    /** Voters answer that have none. */
    LOST,
    /** No voter answers. It may be they that are gone, or the way to them: nobody here can tell. */
    UNREACHABLE,
    /** Nobody has looked yet. */
    UNKNOWN;

    /**
     * A revision that was confirmed lately was so by a quorum, whatever single members say. With the second that may go by
     * until the next look, a lost quorum is seen within three.
     */
    private static final Duration CONFIRMED = Duration.ofMillis(1_500);

    /**
     * Judges by what is known.
     *
     * @param unconfirmed since a quorum confirmed a revision last
     * @param voters as they were seen last
     */
    static QuorumStanding of(Duration unconfirmed, List<Health> voters) {
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
