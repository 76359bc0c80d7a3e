package io.understudy.bench;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/** How a work went, by every path. */
record WorkResult(Work work, Map<ReadPath, PathResult> paths) {

    WorkResult {
        paths = Map.copyOf(new EnumMap<>(paths));
    }

    /**
     * The gateway beside a peer, by their medians.
     *
     * @param cpuShare the gateway's CPU time per request as a share of the peer's
     * @param p99Share likewise
     * @param atMost what the CPU share is to be; empty if the peer is only shown
     */
    record Comparison(ReadPath peer, double cpuShare, double p99Share, OptionalDouble atMost) {

        /** Whether the target is reached; only for one that has one. */
        boolean met() {
            return cpuShare <= atMost.orElseThrow();
        }
    }

    /** With those peers that were measured, if the gateway was. */
    List<Comparison> comparisons() {
        return work.targets().stream().flatMap(this::comparison).toList();
    }

    private Stream<Comparison> comparison(Target target) {
        if (paths.get(ReadPath.GATEWAY) instanceof PathResult.Measured gateway
                && paths.get(target.peer()) instanceof PathResult.Measured peer) {
            Run ours = gateway.median();
            Run theirs = peer.median();
            return Stream.of(new Comparison(
                    target.peer(),
                    ours.cpuMicros() / theirs.cpuMicros(),
                    ours.p99Millis() / theirs.p99Millis(),
                    target.atMost()));
        }
        return Stream.empty();
    }
}
