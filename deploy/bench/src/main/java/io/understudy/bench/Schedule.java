package io.understudy.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How often and how long everything is measured.
 *
 * @param runs how often each path is measured
 * @param duration about how long each run lasts
 * @param warmUp how long the servers are loaded at a time without counting
 * @param idle duration of the measurement without load, before the runs of each work
 * @param roundTrip between voters on one side, and gateway, learner and clients on the other; zero for none
 * @param authenticated whether authentication is enabled
 */
public record Schedule(
        int runs, Duration duration, Duration warmUp, Duration idle, Duration roundTrip, boolean authenticated) {

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException a value is out of range; the message names it
     */
    public Schedule {
        require(runs > 0, "the number of runs must be at least 1, not " + runs);
        require(isPositive(duration), "the duration must be positive, not " + duration.toMillis() + " ms");
        require(isPositive(warmUp), "the warm-up must be positive, not " + warmUp.toMillis() + " ms");
        require(isPositive(idle), "the idle time must be positive, not " + idle.toMillis() + " ms");
        require(!roundTrip.isNegative(), "the round-trip time must not be negative, is " + roundTrip);
    }

    /** Lines about the conditions of the runs. */
    List<String> notes(String last, String exception) {
        List<String> lines = new ArrayList<>();
        if (authenticated) {
            lines.add("Authentication is enabled: all clients use the token of a user.");
        }
        if (!roundTrip.isZero()) {
            lines.add("Round trip from the voting members to gateway, learner, grpc-proxy and " + last + ": "
                    + roundTrip.toMillis() + " ms" + exception);
        }
        return lines;
    }

    Map<String, Object> json(Surroundings surroundings) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("surroundings", surroundings);
        json.put("warmUpMillis", warmUp.toMillis());
        json.put("durationMillis", duration.toMillis());
        json.put("roundTripMillis", roundTrip.toMillis());
        json.put("authenticated", authenticated);
        return json;
    }

    private static boolean isPositive(Duration duration) {
        return !duration.isNegative() && !duration.isZero();
    }

    /**
     * Requires a condition.
     *
     * @throws IllegalArgumentException it does not hold
     */
    public static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
