package io.understudy.bench;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A range for a figure of the gateway or the mirror.
 *
 * @param peer with which the figure is compared; empty for the figure itself
 * @param difference whether the peer's figure is subtracted; otherwise, it is the divisor
 */
public record Goal(Figure figure, Optional<String> peer, boolean difference, double atLeast, double atMost) {

    public static Goal atLeast(Figure figure, Object peer, double share) {
        return new Goal(figure, Optional.of(peer.toString()), false, share, Double.POSITIVE_INFINITY);
    }

    /** An upper bound of the share of the peer's figure; infinite to report the share only. */
    public static Goal atMost(Figure figure, Object peer, double share) {
        return new Goal(figure, Optional.of(peer.toString()), false, Double.NEGATIVE_INFINITY, share);
    }

    public static Goal within(Figure figure, Object peer, double more) {
        return new Goal(figure, Optional.of(peer.toString()), true, Double.NEGATIVE_INFINITY, more);
    }

    public static Goal atLeast(Figure figure, double least) {
        return between(figure, least, Double.POSITIVE_INFINITY);
    }

    public static Goal atMost(Figure figure, double most) {
        return between(figure, Double.NEGATIVE_INFINITY, most);
    }

    static Goal between(Figure figure, double least, double most) {
        return new Goal(figure, Optional.empty(), false, least, most);
    }

    /** By the medians; empty if one of the figures was not measured. */
    Optional<Outcome> outcome(String subject, Map<String, Series> paths) {
        return median(subject, paths)
                .flatMap(own -> peer.isEmpty()
                        ? Optional.of(own)
                        : median(peer.get(), paths).map(other -> difference ? own - other : own / other))
                .map(value -> new Outcome(this, subject, value));
    }

    private Optional<Double> median(String path, Map<String, Series> paths) {
        return Optional.ofNullable(paths.get(path)).flatMap(Series::median).map(run -> run.figures()
                .get(figure));
    }

    /** A goal with the measured value. */
    record Outcome(Goal goal, String subject, double value) {

        boolean isMet() {
            return value >= goal.atLeast && value <= goal.atMost;
        }

        private boolean isJudged() {
            return Double.isFinite(goal.atLeast) || Double.isFinite(goal.atMost);
        }

        String toText() {
            return subject
                    + goal.peer
                            .map(peer -> (goal.difference ? " less " : " to ") + peer)
                            .orElse("")
                    + ": " + goal.figure.title() + String.format(Locale.ROOT, " %.2f", value)
                    + (Double.isInfinite(goal.atLeast)
                            ? ""
                            : String.format(Locale.ROOT, ", at least %.2f", goal.atLeast))
                    + (Double.isInfinite(goal.atMost) ? "" : String.format(Locale.ROOT, ", at most %.2f", goal.atMost))
                    + (isJudged() ? isMet() ? ": met" : ": missed" : "");
        }

        Map<String, Object> json() {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("figure", goal.figure.jsonName());
            goal.peer.ifPresent(peer -> json.put(goal.difference ? "lessThatOf" : "shareOf", peer));
            json.put("value", value);
            if (Double.isFinite(goal.atLeast)) {
                json.put("atLeast", goal.atLeast);
            }
            if (Double.isFinite(goal.atMost)) {
                json.put("atMost", goal.atMost);
            }
            if (isJudged()) {
                json.put("met", isMet());
            }
            return json;
        }
    }
}
