package io.understudy.bench;

import java.util.Map;
import java.util.Optional;

/**
 * The target for one figure of the gateway.
 *
 * @param peer the server that the gateway's figure is compared with; empty if its own counts
 */
record WatchAim(WatchFigure figure, Optional<ServerPath> peer, double atLeast, double atMost) {

    /** How it came out. */
    record Outcome(WatchAim aim, double value) {

        boolean isMet() {
            return value >= aim.atLeast && value <= aim.atMost;
        }
    }

    static WatchAim atMost(WatchFigure figure, ServerPath peer, double share) {
        return new WatchAim(figure, Optional.of(peer), Double.NEGATIVE_INFINITY, share);
    }

    static WatchAim atLeast(WatchFigure figure, ServerPath peer, double share) {
        return new WatchAim(figure, Optional.of(peer), share, Double.POSITIVE_INFINITY);
    }

    static WatchAim own(WatchFigure figure, double atLeast, double atMost) {
        return new WatchAim(figure, Optional.empty(), atLeast, atMost);
    }

    /** By the medians; empty if something for it was not measured. */
    Optional<Outcome> outcome(Map<ServerPath, PathResult<WatchRun>> paths) {
        return median(paths, ServerPath.GATEWAY)
                .flatMap(gateway -> peer.isEmpty()
                        ? Optional.of(gateway)
                        : median(paths, peer.get()).map(its -> gateway / its))
                .map(value -> new Outcome(this, value));
    }

    private Optional<Double> median(Map<ServerPath, PathResult<WatchRun>> paths, ServerPath path) {
        return paths.get(path) instanceof PathResult.Measured<WatchRun> measured
                ? Optional.ofNullable(measured.median().figures().get(figure))
                : Optional.empty();
    }
}
