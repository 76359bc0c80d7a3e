package io.understudy.bench;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * What the user asked for.
 *
 * @param runs how often each path is measured
 * @param duration about how long each run lasts
 * @param warmUp how long requests are sent before each run without counting
 * @param idle how long the servers are watched, before the runs of each work, while nobody asks them
 * @param connections of a gRPC work; a JSON work has one for each request in flight
 * @param equalLoad the load at which latencies are compared
 * @param roundTrip between voters on one side, and gateway, learner and clients on the other; zero for none
 */
public record ReadBenchSettings(
        List<Work> works,
        int runs,
        Duration duration,
        Duration warmUp,
        Duration idle,
        int connections,
        EqualLoad equalLoad,
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

    /** By which ways a work is measured: by its own, and beside a gateway near the voters if they are far. */
    List<ReadPath> paths(Work work) {
        return roundTrip.isZero()
                ? work.paths()
                : Stream.concat(work.paths().stream(), Stream.of(ReadPath.GATEWAY_NEAR))
                        .toList();
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
