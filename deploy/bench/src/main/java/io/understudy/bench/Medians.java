package io.understudy.bench;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Medians of what several runs brought; of an even number the middle between the two in the middle. */
public final class Medians {

    private Medians() {}

    /** @param runs at least one */
    static <R> double of(List<R> runs, ToDoubleFunction<R> figure) {
        double[] sorted = runs.stream().mapToDouble(figure).toArray();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /**
     * Of each figure by itself.
     *
     * @param runs at least one; all have the same figures
     */
    public static <R, K extends Enum<K>> Map<K, Double> each(List<R> runs, Function<R, Map<K, Double>> figures) {
        Map<K, Double> first = figures.apply(runs.get(0));
        if (first.isEmpty()) {
            return Map.of();
        }
        Map<K, Double> medians = new EnumMap<>(first);
        medians.replaceAll((key, value) -> of(runs, run -> figures.apply(run).getOrDefault(key, 0.0)));
        return medians;
    }
}
