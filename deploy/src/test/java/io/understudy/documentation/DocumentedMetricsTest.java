package io.understudy.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.metrics.Metric;
import io.understudy.monitoring.Expressions;
import io.understudy.monitoring.Scrape;
import io.understudy.reference.MetricsReference;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Metrics have the names that processes give them: with dots as they are declared, with underscores as Prometheus has them. */
final class DocumentedMetricsTest {

    /** Of the parts of Understudy, as other names begin with its own too. */
    private static final Pattern DOTTED =
            Pattern.compile("(?<!-D)understudy\\.(?:build|tls|etcd|feed|gateway|mirror|cluster)\\.([a-z.]*[a-z])?(…)?");

    /** It names meters, not series, and is written by what is declared. */
    private static final String REFERENCE = "docs/reference/metrics.md";

    private static final Path ALERTS = Repository.ROOT.resolve("deploy/dist/src/main/dist/monitoring/alerts.yaml");

    private static final Set<String> DECLARED = MetricsReference.sections().stream()
            .flatMap(section -> section.metrics().stream())
            .map(Metric::name)
            .collect(Collectors.toSet());

    @Test
    void seriesAreThoseOfDeclaredMetersWithTheirTags() {
        assertThat(Stream.concat(Document.allLines(), Document.lines(ALERTS))
                        .filter(line -> !line.place().document().endsWith(REFERENCE))
                        .flatMap(
                                line -> faultsOfSeries(line.text()).stream().map(fault -> line.place() + ": " + fault)))
                .isEmpty();
    }

    @Test
    void metersAreDeclared() {
        assertThat(Document.allQuotes().flatMap(quote -> faultsOfMeters(quote.text()).stream()
                        .map(fault -> quote.place() + ": " + fault)))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "understudy_gateway_replica_apply_seconds",
                "understudy_feed_commits",
                "understudy_gateway_requests_seconds_count{verb=\"x\"}"
            })
    void aSeriesThatNoProcessHasIsNoticed(String series) {
        assertThat(faultsOfSeries(series)).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"understudy.tls.reload", "understudy.gateway.loops.…"})
    void anUndeclaredMeterIsReported(String meter) {
        assertThat(faultsOfMeters(meter)).isNotEmpty();
    }

    /** In or out of code. */
    private static List<String> faultsOfSeries(String line) {
        return Expressions.selected(line).entrySet().stream()
                .flatMap(series -> {
                    try {
                        Set<String> tags = Scrape.labels(Scrape.declared(series.getKey()));
                        return series.getValue().stream()
                                .filter(tag -> !tags.contains(tag))
                                .map(tag -> series.getKey() + " has no tag " + tag);
                    } catch (AssertionError e) {
                        return Stream.of(e.getMessage());
                    }
                })
                .toList();
    }

    private static List<String> faultsOfMeters(String text) {
        return DOTTED.matcher(text)
                .results()
                .filter(name -> name.group(2) == null
                        ? !DECLARED.contains(name.group())
                        : DECLARED.stream()
                                .noneMatch(each -> each.startsWith(name.group().replace("…", ""))))
                .map(name -> "no such meter: " + name.group())
                .toList();
    }
}
