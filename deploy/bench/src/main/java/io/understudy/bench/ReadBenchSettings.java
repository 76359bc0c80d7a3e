package io.understudy.bench;

import static io.understudy.bench.Schedule.require;

import java.util.List;
import java.util.stream.Stream;

/**
 * Settings of the read benchmarks.
 *
 * @param connections of a gRPC work; a JSON work has one for each request in flight
 * @param equalLoad the load at which latencies are compared
 */
public record ReadBenchSettings(
        List<Work> works, Schedule schedule, int connections, EqualLoad equalLoad, Generator generator) {

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException a value is not allowed
     */
    public ReadBenchSettings {
        works = List.copyOf(works);
        require(!works.isEmpty(), "no benchmark selected");
        for (Work work : works) {
            require(
                    connections > 0 && work.inFlight() % connections == 0,
                    connections + " connections cannot share " + work.inFlight() + " requests evenly");
        }
    }

    /** How many connections the work's requests use. */
    int connections(Work work) {
        return work.api() == Api.GRPC ? connections : work.inFlight();
    }

    /** By which ways a work is measured: by its own, and beside a gateway near the voters if they are far. */
    List<ServerPath> paths(Work work) {
        return schedule.roundTrip().isZero()
                ? work.paths()
                : Stream.concat(work.paths().stream(), Stream.of(ServerPath.GATEWAY_NEAR))
                        .toList();
    }
}
