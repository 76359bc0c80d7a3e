package io.understudy.bench.cluster;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.bench.BenchReport;
import io.understudy.bench.Medians;
import io.understudy.report.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * How reconfiguring went.
 *
 * @param surroundings what figures depend on besides the code
 */
record ClusterReport(String surroundings, ClusterBenchSettings settings, List<Result> results) implements BenchReport {

    ClusterReport {
        results = List.copyOf(results);
    }

    /** All runs of one work. */
    record Result(ClusterWork work, List<Map<ClusterFigure, Double>> runs) {

        Result {
            runs = List.copyOf(runs);
        }

        Map<ClusterFigure, Double> medians() {
            return Medians.each(runs, run -> run);
        }
    }

    @Override
    public String toText() {
        List<String> lines = new ArrayList<>(List.of(
                surroundings,
                settings.putsPerSecond() + " puts/s; " + settings.megabytes() + " MB of data in benchmark join"));
        for (Result result : results) {
            lines.add("");
            lines.add(result.work() + ": " + result.work().description());
            lines.addAll(table(result));
            for (ClusterWork.Aim aim : result.work().aims()) {
                lines.add(aim.figure().title() + " " + aim.figure().format(value(result, aim)) + ", at most "
                        + String.format(Locale.ROOT, "%.0f", aim.atMost()) + ": "
                        + (isMet(result, aim) ? "met" : "missed"));
            }
        }
        return String.join("\n", lines);
    }

    private static List<String> table(Result result) {
        List<ClusterFigure> figures =
                result.runs().get(0).keySet().stream().sorted().toList();
        TextTable table = new TextTable(row("run", figures.stream().map(ClusterFigure::title)));
        int number = 1;
        for (Map<ClusterFigure, Double> run : result.runs()) {
            table.row(row(Integer.toString(number++), cells(run, figures)));
        }
        table.row(row("median", cells(result.medians(), figures)));
        return table.lines();
    }

    private static Stream<String> cells(Map<ClusterFigure, Double> values, List<ClusterFigure> figures) {
        return figures.stream().map(figure -> figure.format(values.getOrDefault(figure, 0.0)));
    }

    private static String[] row(String first, Stream<String> cells) {
        return Stream.concat(Stream.of(first), cells).toArray(String[]::new);
    }

    private static double value(Result result, ClusterWork.Aim aim) {
        return result.medians().getOrDefault(aim.figure(), 0.0);
    }

    private static boolean isMet(Result result, ClusterWork.Aim aim) {
        return value(result, aim) <= aim.atMost();
    }

    @Override
    public String toJson() {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode root = mapper.createObjectNode();
        root.put("surroundings", surroundings)
                .put("putsPerSecond", settings.putsPerSecond())
                .put("megabytes", settings.megabytes());
        for (Result result : results) {
            ObjectNode work = root.withArray("works").addObject();
            work.put("work", result.work().toString())
                    .put("description", result.work().description());
            result.runs().forEach(run -> put(run, work.withArray("runs").addObject()));
            put(result.medians(), work.putObject("median"));
            result.work().aims().forEach(aim -> work.withArray("aims")
                    .addObject()
                    .put("figure", aim.figure().jsonName())
                    .put("atMost", aim.atMost())
                    .put("met", isMet(result, aim)));
        }
        try {
            return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(root);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write JSON", e);
        }
    }

    private static void put(Map<ClusterFigure, Double> figures, ObjectNode node) {
        figures.forEach((figure, value) -> node.put(figure.jsonName(), value));
    }
}
