package io.understudy.bench;

import java.time.Duration;
import java.util.List;

/**
 * What the user asked for.
 *
 * @param runs how often each path is measured
 * @param duration about how long each run lasts
 * @param firstWarmUp how long requests of a work are sent to a path before its first run, without counting: a JVM needs
 *     time to compile what is used, as it has in a server that stays
 * @param warmUp likewise before each run
 * @param idle how long the servers are watched while nobody asks them
 * @param connections of a gRPC work; a JSON work has one for each request in flight
 * @param roundTrip between voters on one side, and gateway, learner and clients on the other; zero for none
 */
public record ReadBenchSettings(
        List<Work> works,
        int runs,
        Duration duration,
        Duration firstWarmUp,
        Duration warmUp,
        Duration idle,
        int connections,
        Duration roundTrip,
        Generator generator) {

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException one makes no sense; the message says which
     */
    public ReadBenchSettings {
        works = List.copyOf(works);
        require(!works.isEmpty(), "no work");
        require(runs > 0, "at least one run is needed, asked for " + runs);
        require(isPositive(duration), "a run must last, asked for " + duration);
        require(isPositive(firstWarmUp), "a first warm-up must last, asked for " + firstWarmUp);
        require(isPositive(warmUp), "a warm-up must last: its rate is needed; asked for " + warmUp);
        require(isPositive(idle), "idle processes must be watched for a time, asked for " + idle);
        require(!roundTrip.isNegative(), "a round trip can't take less than no time, asked for " + roundTrip);
        for (Work work : works) {
            require(
                    connections > 0 && work.inFlight() % connections == 0,
                    connections + " connections can't share " + work.inFlight() + " requests evenly");
        }
    }

    /** How many connections the work's requests use. */
    int connections(Work work) {
        return work.api() == Api.GRPC ? connections : work.inFlight();
    }

    private static boolean isPositive(Duration duration) {
        return !duration.isNegative() && !duration.isZero();
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
