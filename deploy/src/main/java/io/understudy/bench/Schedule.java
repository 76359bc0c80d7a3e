package io.understudy.bench;

import java.time.Duration;

/**
 * How often and how long everything is measured.
 *
 * @param runs how often each path is measured
 * @param duration about how long each run lasts
 * @param warmUp how long the servers are loaded at a time without counting
 * @param idle how long the servers are watched, before the runs of each work, while nobody asks them
 * @param roundTrip between voters on one side, and gateway, learner and clients on the other; zero for none
 * @param authenticated whether the cluster wants to know who asks
 */
public record Schedule(
        int runs, Duration duration, Duration warmUp, Duration idle, Duration roundTrip, boolean authenticated) {

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException one makes no sense; the message says which
     */
    public Schedule {
        require(runs > 0, "at least one run is needed, asked for " + runs);
        require(isPositive(duration), "a run must last, asked for " + duration);
        require(isPositive(warmUp), "a warm-up must last: its rate is needed; asked for " + warmUp);
        require(isPositive(idle), "idle processes must be watched for a time, asked for " + idle);
        require(!roundTrip.isNegative(), "a round trip can't take less than no time, asked for " + roundTrip);
    }

    private static boolean isPositive(Duration duration) {
        return !duration.isNegative() && !duration.isZero();
    }

    /** @throws IllegalArgumentException the condition does not hold */
    static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
