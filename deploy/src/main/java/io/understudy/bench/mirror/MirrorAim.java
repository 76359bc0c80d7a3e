package io.understudy.bench.mirror;

import java.util.Map;
import java.util.Optional;

/**
 * What the mirror is to reach with a figure.
 *
 * @param peer whose figure it is compared with; empty if its own counts
 * @param difference whether the peer's is taken off, else it is what the mirror's is divided by
 */
record MirrorAim(MirrorFigure figure, Optional<Relay> peer, boolean difference, double atLeast, double atMost) {

    static MirrorAim atLeast(MirrorFigure figure, Relay peer, double share) {
        return new MirrorAim(figure, Optional.of(peer), false, share, Double.POSITIVE_INFINITY);
    }

    static MirrorAim atMost(MirrorFigure figure, Relay peer, double share) {
        return new MirrorAim(figure, Optional.of(peer), false, Double.NEGATIVE_INFINITY, share);
    }

    static MirrorAim within(MirrorFigure figure, Relay peer, double more) {
        return new MirrorAim(figure, Optional.of(peer), true, Double.NEGATIVE_INFINITY, more);
    }

    static MirrorAim own(MirrorFigure figure, double atMost) {
        return new MirrorAim(figure, Optional.empty(), false, Double.NEGATIVE_INFINITY, atMost);
    }

    /** By the medians; empty if something for it was not measured. */
    Optional<Double> value(Map<Relay, Map<MirrorFigure, Double>> medians) {
        Double mirror = medians.getOrDefault(Relay.MIRROR, Map.of()).get(figure);
        if (mirror == null || peer.isEmpty()) {
            return Optional.ofNullable(mirror);
        }
        Double its = medians.getOrDefault(peer.get(), Map.of()).get(figure);
        return its == null ? Optional.empty() : Optional.of(difference ? mirror - its : mirror / its);
    }

    boolean isMet(double value) {
        return value >= atLeast && value <= atMost;
    }
}
