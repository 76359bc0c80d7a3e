package io.understudy.bench.relay;

import java.util.Map;
import java.util.Optional;

/**
 * The target for one figure of the mirror.
 *
 * @param peer the relay that it is compared with; empty if its own figure counts
 * @param difference whether the peer's is taken off, else it is what the mirror's is divided by
 */
public record RelayAim(RelayFigure figure, Optional<Relay> peer, boolean difference, double atLeast, double atMost) {

    public static RelayAim atLeast(RelayFigure figure, Relay peer, double share) {
        return new RelayAim(figure, Optional.of(peer), false, share, Double.POSITIVE_INFINITY);
    }

    public static RelayAim atMost(RelayFigure figure, Relay peer, double share) {
        return new RelayAim(figure, Optional.of(peer), false, Double.NEGATIVE_INFINITY, share);
    }

    public static RelayAim within(RelayFigure figure, Relay peer, double more) {
        return new RelayAim(figure, Optional.of(peer), true, Double.NEGATIVE_INFINITY, more);
    }

    public static RelayAim atLeast(RelayFigure figure, double atLeast) {
        return new RelayAim(figure, Optional.empty(), false, atLeast, Double.POSITIVE_INFINITY);
    }

    public static RelayAim atMost(RelayFigure figure, double atMost) {
        return new RelayAim(figure, Optional.empty(), false, Double.NEGATIVE_INFINITY, atMost);
    }

    /** By the medians; empty if something for it was not measured. */
    public Optional<Double> value(Map<Relay, Map<RelayFigure, Double>> medians) {
        Double mirror = medians.getOrDefault(Relay.MIRROR, Map.of()).get(figure);
        if (mirror == null || peer.isEmpty()) {
            return Optional.ofNullable(mirror);
        }
        Double its = medians.getOrDefault(peer.get(), Map.of()).get(figure);
        return its == null ? Optional.empty() : Optional.of(difference ? mirror - its : mirror / its);
    }

    /** Whether a value of {@link #value} is good enough. */
    public boolean isMet(double value) {
        return value >= atLeast && value <= atMost;
    }
}
