package io.understudy.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.report.TextTable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The results of a benchmark.
 *
 * @param heading first lines of the text
 * @param settings first fields of the JSON object
 */
public record Experiment(List<String> heading, Map<String, Object> settings, List<Result> works) {

    private static final JsonMapper MAPPER = JsonMapper.builder()
            .enable(SerializationFeature.WRITE_ENUMS_USING_TO_STRING)
            .build();

    public Experiment {
        heading = List.copyOf(heading);
        works = List.copyOf(works);
    }

    /**
     * All runs of one work.
     *
     * @param subject the path with goals
     * @param paths by name, in the order of the table
     * @param notes lines below the table
     */
    public record Result(
            String work,
            String description,
            String subject,
            Map<String, Series> paths,
            List<Goal> goals,
            List<String> notes) {

        public Result {
            goals = List.copyOf(goals);
            notes = List.copyOf(notes);
        }

        List<Goal.Outcome> outcomes() {
            return goals.stream()
                    .flatMap(goal -> goal.outcome(subject, paths).stream())
                    .toList();
        }

        private List<String> lines() {
            Set<Figure> figures = EnumSet.noneOf(Figure.class);
            paths.values().forEach(path -> path.runs()
                    .forEach(run -> figures.addAll(run.figures().keySet())));
            TextTable table = new TextTable(row("path", "run", figures.stream().map(Figure::title), "of which"));
            paths.forEach((path, series) -> {
                int number = 1;
                for (Run run : series.runs()) {
                    table.row(row(path, Integer.toString(number++), run, figures));
                }
                series.median().ifPresent(median -> table.row(row(path, "median", median, figures)));
                if (series.runs().isEmpty()) {
                    String missing = series.missing().equals("notServed") ? "not served" : series.missing();
                    table.row(row(path, missing, figures.stream().map(figure -> ""), series.reason()));
                }
            });
            List<String> lines = new ArrayList<>(List.of("", work + ": " + description));
            lines.addAll(table.lines());
            lines.addAll(notes);
            outcomes().forEach(outcome -> lines.add(outcome.toText()));
            return lines;
        }

        private static String[] row(String path, String name, Run run, Set<Figure> figures) {
            return row(
                    path,
                    name,
                    figures.stream()
                            .map(figure -> run.figures().containsKey(figure) ? figure.format(run.figure(figure)) : ""),
                    run.byRole());
        }

        private static String[] row(String path, String name, Stream<String> cells, String last) {
            return Stream.of(Stream.of(path, name), cells, Stream.of(last))
                    .flatMap(each -> each)
                    .toArray(String[]::new);
        }

        private Map<String, Object> json() {
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("work", work);
            json.put("description", description);
            Map<String, Object> series = new LinkedHashMap<>();
            paths.forEach((path, its) -> series.put(path, its.json()));
            json.put("paths", series);
            json.put("notes", notes);
            json.put("aims", outcomes().stream().map(Goal.Outcome::json).toList());
            return json;
        }
    }

    /** A line about the warm-up and the idle rates of a work. */
    static String before(Map<ServerPath, Duration> warmUps, Map<ProcessRole, Double> idleRates) {
        String each = new TreeMap<>(warmUps)
                .entrySet().stream()
                        .map(path -> path.getKey() + " " + seconds(path.getValue()))
                        .collect(Collectors.joining(", "));
        return "before: warm-up " + each + "; idle, ms of CPU per second: " + Run.byRole(idleRates, 1e-3);
    }

    static String seconds(Duration duration) {
        return String.format(Locale.ROOT, "%.1f s", duration.toMillis() / 1e3);
    }

    /** The report as text. */
    public String toText() {
        return Stream.concat(heading.stream(), works.stream().flatMap(work -> work.lines().stream()))
                .collect(Collectors.joining("\n"));
    }

    /** The report as JSON. */
    public String toJson() {
        Map<String, Object> json = new LinkedHashMap<>(settings);
        json.put("works", works.stream().map(Result::json).toList());
        try {
            return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(json);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write JSON", e);
        }
    }
}
