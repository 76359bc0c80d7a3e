package io.understudy.bench.relay;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.bench.BenchReport;
import io.understudy.bench.Medians;
import io.understudy.report.TextTable;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * How relaying went.
 *
 * @param heading lines for people
 * @param settings for programs
 * @param works each with all runs of all relays
 */
public record RelayReport(List<String> heading, Map<String, Object> settings, List<Result> works)
        implements BenchReport {

    public RelayReport {
        heading = List.copyOf(heading);
        works = List.copyOf(works);
    }

    /** All runs of one work. */
    public record Result(RelayWork work, Map<Relay, List<Map<RelayFigure, Double>>> runs) {

        Map<Relay, Map<RelayFigure, Double>> medians() {
            Map<Relay, Map<RelayFigure, Double>> medians = new EnumMap<>(Relay.class);
            runs.forEach((relay, its) -> medians.put(relay, Medians.each(its, run -> run)));
            return medians;
        }
    }

    @Override
    public String toText() {
        List<String> lines = new ArrayList<>(heading);
        works.forEach(result -> {
            lines.add("");
            lines.add(result.work() + ": " + result.work().description());
            lines.addAll(table(result));
            Map<Relay, Map<RelayFigure, Double>> medians = result.medians();
            for (RelayAim aim : result.work().aims()) {
                aim.value(medians).ifPresent(value -> lines.add(outcome(aim, value)));
            }
        });
        return String.join("\n", lines);
    }

    private static List<String> table(Result result) {
        Set<RelayFigure> figures = EnumSet.noneOf(RelayFigure.class);
        result.runs().values().forEach(runs -> runs.forEach(run -> figures.addAll(run.keySet())));
        TextTable table = new TextTable(row("relay", "run", figures.stream().map(RelayFigure::title)));
        Map<Relay, Map<RelayFigure, Double>> medians = result.medians();
        for (Relay relay : result.work().relays()) {
            int number = 1;
            for (Map<RelayFigure, Double> run : result.runs().getOrDefault(relay, List.of())) {
                table.row(row(relay, Integer.toString(number++), run, figures));
            }
            table.row(row(relay, "median", medians.getOrDefault(relay, Map.of()), figures));
        }
        return table.lines();
    }

    private static String[] row(Relay relay, String run, Map<RelayFigure, Double> its, Set<RelayFigure> figures) {
        return row(relay.toString(), run, figures.stream().map(figure -> Optional.ofNullable(its.get(figure))
                .map(figure::format)
                .orElse("")));
    }

    private static String[] row(String relay, String run, Stream<String> cells) {
        return Stream.concat(Stream.of(relay, run), cells).toArray(String[]::new);
    }

    private static String outcome(RelayAim aim, double value) {
        return "mirror"
                + aim.peer()
                        .map(peer -> (aim.difference() ? " less " : " to ") + peer)
                        .orElse("")
                + ": " + aim.figure().title() + String.format(Locale.ROOT, " %.2f", value)
                + (Double.isInfinite(aim.atLeast()) ? "" : ", at least " + aim.atLeast())
                + (Double.isInfinite(aim.atMost()) ? "" : ", at most " + aim.atMost()) + ": "
                + (aim.isMet(value) ? "met" : "missed");
    }

    @Override
    public String toJson() {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode root = mapper.createObjectNode();
        settings.forEach(root::putPOJO);
        for (Result result : works) {
            ObjectNode work = root.withArray("works").addObject();
            work.put("work", result.work().toString())
                    .put("description", result.work().description());
            ObjectNode relays = work.putObject("relays");
            Map<Relay, Map<RelayFigure, Double>> medians = result.medians();
            result.runs().forEach((relay, runs) -> {
                ObjectNode its = relays.putObject(relay.toString());
                runs.forEach(run -> put(run, its.withArray("runs").addObject()));
                put(medians.getOrDefault(relay, Map.of()), its.putObject("median"));
            });
            for (RelayAim aim : result.work().aims()) {
                aim.value(medians)
                        .ifPresent(
                                value -> put(aim, value, work.withArray("aims").addObject()));
            }
        }
        try {
            return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(root);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write JSON", e);
        }
    }

    private static void put(Map<RelayFigure, Double> figures, ObjectNode node) {
        figures.forEach((figure, value) -> node.put(figure.jsonName(), value));
    }

    private static void put(RelayAim aim, double value, ObjectNode node) {
        node.put("figure", aim.figure().jsonName()).put("value", value).put("met", aim.isMet(value));
        aim.peer().ifPresent(peer -> node.put(aim.difference() ? "lessThatOf" : "shareOf", peer.toString()));
        if (!Double.isInfinite(aim.atLeast())) {
            node.put("atLeast", aim.atLeast());
        }
        if (!Double.isInfinite(aim.atMost())) {
            node.put("atMost", aim.atMost());
        }
    }
}
