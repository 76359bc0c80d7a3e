package io.understudy.bench.mirror;

import static io.understudy.bench.Schedule.require;

import io.understudy.feed.etcd.WatchedVoter;
import java.time.Duration;
import java.util.List;

/**
 * Settings of the mirror benchmarks.
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
     * @throws IllegalArgumentException a value is not allowed
     */
    public MirrorBenchSettings {
        works = works.stream().distinct().sorted().toList();
        require(!works.isEmpty(), "no benchmark selected");
        require(runs > 0, "the number of runs must be at least 1, not " + runs);
        require(keys > 0 && peerKeys > 0 && backlog > 0, "keys and backlog must be at least 1");
        require(putsPerSecond > 0, "puts per second must be at least 1, not " + putsPerSecond);
        require(writers > 0, "the number of writers must be at least 1, not " + writers);
        require(duration.toMillis() > 0, "the duration must be positive, not " + duration.toMillis() + " ms");
        require(!warmUp.isNegative(), "the warm-up must not be negative, is " + warmUp);
        require(!roundTrip.isNegative(), "the round-trip time must not be negative, is " + roundTrip);
        require(
                !cut.isNegative() && cut.compareTo(LONGEST_CUT) <= 0,
                "the cut must be 0s to " + LONGEST_CUT.toSeconds() + "s, not " + cut.toMillis() + " ms");
    }

    /** Whether one cluster is reached through a link with faults. */
    boolean isFar() {
        return !roundTrip.isZero() || !cut.isZero();
    }

    /** Which cluster is a round trip away from the mirror; load and looks are always near to theirs. */
    public enum Far {
        SOURCE,
        TARGET
    }
}
