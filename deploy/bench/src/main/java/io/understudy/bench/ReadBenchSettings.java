package io.understudy.bench;

import static io.understudy.bench.Schedule.require;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

    /**
     * The load at which the latencies of a work's paths are compared: not at that which each can just bear.
     *
     * @param amount requests per second; or, as a share, of those that the slowest path answered
     * @param share whether it is a share
     */
    public record EqualLoad(double amount, boolean share) {

        private static final Pattern FORM = Pattern.compile("(\\d{1,7})(%?)");
        private static final double PERCENT = 100;

        /**
         * Reads {@code 50%} or {@code 20000}; zero for no comparison.
         *
         * @throws IllegalArgumentException it is neither
         */
        public static EqualLoad parse(String text) {
            Matcher matcher = FORM.matcher(text);
            if (!matcher.matches()) {
                throw new IllegalArgumentException(
                        "'" + text + "' is not a load; allowed: requests per second, or a share such as 50%");
            }
            double amount = Double.parseDouble(matcher.group(1));
            boolean share = !matcher.group(2).isEmpty();
            return new EqualLoad(share ? amount / PERCENT : amount, share);
        }

        boolean isNone() {
            return amount == 0;
        }

        /** @param slowest requests per second that every path can bear */
        Pace pace(double slowest) {
            return new Pace(share ? amount * slowest : amount);
        }
    }

    /** What may send the requests. */
    public enum Generator {
        /** h2load where it is on PATH, else our own. */
        AUTO,
        H2LOAD,
        OWN
    }
}
