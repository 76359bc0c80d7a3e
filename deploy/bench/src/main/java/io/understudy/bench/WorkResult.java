package io.understudy.bench;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * The result of a work, by path.
 *
 * @param warmUps how long each path was warmed up before its first run
 * @param idleRates CPU microseconds that idle servers used per second
 * @param paths with as many requests in flight as the work has
 * @param equalLoad at a load that is the same for all; empty if it was not requested
 */
record WorkResult(
        Work work,
        Map<ServerPath, Duration> warmUps,
        Map<Role, Double> idleRates,
        Map<ServerPath, PathResult<Run>> paths,
        Map<ServerPath, PathResult<Run>> equalLoad) {

    WorkResult {
        warmUps = Map.copyOf(warmUps);
        idleRates = Map.copyOf(idleRates);
        paths = Map.copyOf(paths);
        equalLoad = Map.copyOf(equalLoad);
    }

    /**
     * The gateway beside a peer, by their medians.
     *
     * @param cpuShare the gateway's CPU time per request as a share of the peer's
     * @param atMost what that is to be; empty if the peer is only shown
     * @param p99Share the gateway's p99 as a share of the peer's, at equal load, to be at most 1 if {@code atMost} is
     *     given; empty if that was not measured
     */
    record Comparison(ServerPath peer, double cpuShare, OptionalDouble atMost, OptionalDouble p99Share) {

        /** Whether the target is reached; only for one that has one. */
        boolean isCheapEnough() {
            return cpuShare <= atMost.orElseThrow();
        }

        /** Whether p99 is no worse than the peer's; only if it was measured. */
        boolean isFastEnough() {
            return p99Share.orElseThrow() <= 1;
        }
    }

    /**
     * What it costs that the voters are far, by medians at equal load.
     *
     * @param p50Millis by how much longer half of the requests take than with near voters
     * @param p99Millis likewise 99 of a hundred
     */
    record Distance(double p50Millis, double p99Millis) {

        /**
         * Whether a read waits for no more than two round trips: the one that was under way when it came, and the next,
         * which confirms it.
         */
        boolean isShortEnough(Duration roundTrip) {
            return p99Millis <= 2 * roundTrip.toMillis();
        }
    }

    /** Empty if the voters were near. */
    Optional<Distance> distance() {
        if (equalLoad.get(ServerPath.GATEWAY) instanceof PathResult.Measured<Run> far
                && equalLoad.get(ServerPath.GATEWAY_NEAR) instanceof PathResult.Measured<Run> near) {
            return Optional.of(new Distance(
                    far.median().p50Millis() - near.median().p50Millis(),
                    far.median().p99Millis() - near.median().p99Millis()));
        }
        return Optional.empty();
    }

    /** With those peers that were measured, if the gateway was. */
    List<Comparison> comparisons() {
        return work.targets().stream().flatMap(this::comparison).toList();
    }

    private Stream<Comparison> comparison(Target target) {
        if (paths.get(ServerPath.GATEWAY) instanceof PathResult.Measured<Run> gateway
                && paths.get(target.peer()) instanceof PathResult.Measured<Run> peer) {
            return Stream.of(new Comparison(
                    target.peer(),
                    gateway.median().cpuMicros() / peer.median().cpuMicros(),
                    target.atMost(),
                    p99Share(target.peer())));
        }
        return Stream.empty();
    }

    private OptionalDouble p99Share(ServerPath path) {
        return equalLoad.get(ServerPath.GATEWAY) instanceof PathResult.Measured<Run> gateway
                        && equalLoad.get(path) instanceof PathResult.Measured<Run> peer
                ? OptionalDouble.of(gateway.median().p99Millis() / peer.median().p99Millis())
                : OptionalDouble.empty();
    }
}
