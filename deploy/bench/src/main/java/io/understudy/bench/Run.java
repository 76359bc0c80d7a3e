package io.understudy.bench;

import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The figures of one run, or the medians of several.
 *
 * @param cpuMicrosByRole CPU time per operation; empty if not measured
 */
public record Run(Map<Figure, Double> figures, Map<ProcessRole, Double> cpuMicrosByRole) {

    public Run {
        figures = Collections.unmodifiableMap(new TreeMap<>(figures));
        cpuMicrosByRole = Collections.unmodifiableMap(new TreeMap<>(cpuMicrosByRole));
    }

    public Run(Map<Figure, Double> figures) {
        this(figures, Map.of());
    }

    /** The p50 and p99 of latencies. */
    public static Map<Figure, Double> latencies(Latencies latencies) {
        Map<Figure, Double> figures = new EnumMap<>(Figure.class);
        figures.put(Figure.P50_MILLIS, latencies.millis(0.5));
        figures.put(Figure.P99_MILLIS, latencies.millis(0.99));
        return figures;
    }

    /** The median of each figure; all runs have the same figures. */
    static Run median(List<Run> runs) {
        return new Run(medians(runs, Run::figures), medians(runs, Run::cpuMicrosByRole));
    }

    private static <K> Map<K, Double> medians(List<Run> runs, Function<Run, Map<K, Double>> figures) {
        Map<K, Double> medians = new LinkedHashMap<>(figures.apply(runs.get(0)));
        medians.replaceAll((key, value) -> {
            double[] sorted = runs.stream()
                    .mapToDouble(run -> figures.apply(run).getOrDefault(key, 0.0))
                    .sorted()
                    .toArray();
            return Arrays.stream(sorted, (sorted.length - 1) / 2, sorted.length / 2 + 1)
                    .average()
                    .orElseThrow();
        });
        return medians;
    }

    double figure(Figure which) {
        return figures.getOrDefault(which, 0.0);
    }

    /** The figures in one line. */
    public String toText() {
        return figures.entrySet().stream()
                .map(each -> each.getKey().title() + " " + each.getKey().format(each.getValue()))
                .collect(Collectors.joining(", "));
    }

    String byRole() {
        return byRole(cpuMicrosByRole, 1);
    }

    static String byRole(Map<ProcessRole, Double> figures, double scale) {
        return new TreeMap<>(figures)
                .entrySet().stream()
                        .map(each -> String.format(Locale.ROOT, "%s %.1f", each.getKey(), each.getValue() * scale))
                        .collect(Collectors.joining(", "));
    }

    Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        figures.forEach((figure, value) -> json.put(figure.jsonName(), value));
        if (!cpuMicrosByRole.isEmpty()) {
            json.put("cpuMicrosByRole", cpuMicrosByRole);
        }
        return json;
    }
}
