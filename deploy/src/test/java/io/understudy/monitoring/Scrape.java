package io.understudy.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.metrics.Metric;
import io.understudy.reference.MetricsReference;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The response of a running process to {@code /metrics}: our families, each with the labels it had. */
public record Scrape(String text, Map<String, Set<String>> families) {

    private static final Pattern SAMPLE = Pattern.compile("^(understudy_\\w+)(?:\\{(.*)})? \\S+$");
    private static final Pattern LABEL = Pattern.compile("(\\w+)=\"");
    private static final List<String> SUFFIXES = List.of("", "_count", "_sum", "_max", "_bucket");

    /** Requests Prometheus' text format. */
    public static Scrape of(URI metrics) throws IOException, InterruptedException {
        String text = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(metrics)
                                .timeout(Duration.ofSeconds(10))
                                .build(),
                        BodyHandlers.ofString())
                .body();
        Map<String, Set<String>> families = new TreeMap<>();
        text.lines().map(SAMPLE::matcher).filter(Matcher::matches).forEach(sample -> {
            Set<String> labels = families.computeIfAbsent(sample.group(1), absent -> new TreeSet<>());
            Matcher label = LABEL.matcher(sample.group(2) == null ? "" : sample.group(2));
            while (label.find()) {
                labels.add(label.group(1));
            }
        });
        return new Scrape(text, families);
    }

    /** The declared meter that a series is of, by the series' name. */
    public static Metric declared(String series) {
        return MetricsReference.sections().stream()
                .flatMap(section -> section.metrics().stream())
                .filter(metric -> names(metric).contains(series))
                .findFirst()
                .orElseThrow(() -> new AssertionError(series + " is no declared meter's"));
    }

    private static List<String> names(Metric metric) {
        boolean isOne = metric.type() == Metric.Type.COUNTER || metric.type() == Metric.Type.GAUGE;
        return SUFFIXES.stream()
                .filter(suffix -> suffix.isEmpty() == isOne)
                .map(suffix -> metric.prometheusName() + suffix)
                .toList();
    }

    /** Labels that a series of the meter may have. */
    public static Set<String> labels(Metric metric) {
        Set<String> labels = new HashSet<>(Set.of("process", "le"));
        metric.tags().forEach(tag -> labels.add(tag.key()));
        return labels;
    }

    /** Each series is a declared meter's, and has no tag beyond those declared; Prometheus' own parser takes the text. */
    public void assertDeclaredAndWellFormed(Path folder) throws IOException, InterruptedException {
        assertThat(families).isNotEmpty();
        families.forEach(
                (name, labels) -> assertThat(labels(declared(name))).as(name).containsAll(labels));
        Promtool.require();
        assertThat(Promtool.parsed(text, folder)).isEmpty();
    }
}
