package io.understudy.bench.mirror;

import io.understudy.feed.etcd.WatchedVoter;
import java.time.Duration;
import java.util.List;

/**
 * What the user asked for.
 *
 * @param runs how often each is measured
 * @param keys of a first synchronisation by the mirror
 * @param peerKeys of one by make-mirror, which takes its time
 * @param backlog commits made while it was stopped
 * @param duration of each run with load
 * @param warmUp of the load before it that doesn't count
 * @param putsPerSecond where they have a steady rate
 * @param writers that put one after the other, where they have none
 * @param roundTrip between the mirror and {@code far}; zero for none
 * @param cut how long {@code far} is cut off each minute; zero for not at all
 * @param watch where the mirror watches the source
 */
public record MirrorBenchSettings(
        List<MirrorWork> works,
        int runs,
        int keys,
        int peerKeys,
        int backlog,
        Duration duration,
        Duration warmUp,
        int putsPerSecond,
        int writers,
        Duration roundTrip,
        Duration cut,
        Far far,
        WatchedVoter watch) {

    private static final Duration LONGEST_CUT = Duration.ofSeconds(30);

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException one makes no sense; the message says which
     */
    public MirrorBenchSettings {
        works = works.stream().distinct().sorted().toList();
        require(!works.isEmpty(), "no work");
        require(runs > 0, "at least one run is needed, asked for " + runs);
        require(keys > 0 && peerKeys > 0 && backlog > 0, "at least one key is needed");
        require(putsPerSecond > 0, "at least one put per second is needed, asked for " + putsPerSecond);
        require(writers > 0, "at least one writer is needed, asked for " + writers);
        require(duration.toMillis() > 0, "a run must last, asked for " + duration);
        require(!warmUp.isNegative(), "a warm-up can't take less than no time, asked for " + warmUp);
        require(!roundTrip.isNegative(), "a round trip can't take less than no time, asked for " + roundTrip);
        require(
                !cut.isNegative() && cut.compareTo(LONGEST_CUT) <= 0,
                "a cut takes from 0s to " + LONGEST_CUT.toSeconds() + "s, asked for " + cut);
    }

    /** Whether one cluster is reached through a link with faults. */
    boolean isFar() {
        return !roundTrip.isZero() || !cut.isZero();
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
