package io.understudy.monitoring;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.metrics.ProcessMetrics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Alerts, runbooks and dashboard fit each other and what processes measure; their syntax and effect are Prometheus' to judge. */
final class MonitoringTest {

    private static final Pattern GROUPING = Pattern.compile("(?:by|on) \\(([^)]*)\\)");
    private static final Pattern OF_THE_JVM = Pattern.compile("\\b(?:jvm|process|system)_\\w+");
    private static final Set<String> OF_PROMETHEUS = Set.of("namespace", "job", "instance");

    @TempDir
    private Path folder;

    @Test
    void eachAlertHasARunbookAndEachRunbookAnAlert() throws IOException {
        String alerts = Files.readString(Expressions.SHIPPED.resolve("alerts.yaml"));
        String runbooks = Files.readString(Path.of("../docs/operate/runbooks.md"));
        Set<String> sections = new HashSet<>();
        Pattern.compile("^### (\\w+)$", Pattern.MULTILINE)
                .matcher(runbooks)
                .results()
                .forEach(heading -> sections.add(heading.group(1)));
        assertThat(Expressions.ofAlerts().keySet()).hasSizeGreaterThan(20).isEqualTo(sections);
        assertThat(alerts.split("- alert: ", -1)).hasSize(sections.size() + 1);
        assertThat(sections).allSatisfy(name -> assertThat(alerts)
                .contains("/docs/operate/runbooks.md#" + name.toLowerCase(Locale.ROOT) + "\n"));
        for (String section : runbooks.split("\n### ", -1)) {
            if (sections.contains(section.lines().findFirst().orElse(""))) {
                assertThat(section).contains("\n- **Look**: ", "\n- **Do**: ");
            }
        }
        assertThat(alerts.split("\n +summary: ", -1)).hasSize(sections.size() + 1);
        assertThat(alerts.split("\n +description: ", -1)).hasSize(sections.size() + 1);
    }

    @Test
    void expressionsNameMetersAndTagsThatAreDeclared() throws IOException {
        Map<String, String> all = new TreeMap<>(Expressions.ofAlerts());
        all.putAll(Expressions.ofDashboard("5m"));
        all.forEach((name, expression) -> {
            Set<String> known = new HashSet<>(OF_PROMETHEUS);
            Expressions.selected(expression).forEach((series, labels) -> {
                Set<String> ofSeries = new HashSet<>(Scrape.labels(Scrape.declared(series)));
                ofSeries.addAll(OF_PROMETHEUS);
                assertThat(ofSeries).as(name).containsAll(labels);
                known.addAll(ofSeries);
            });
            GROUPING.matcher(expression).results().forEach(by -> assertThat(known)
                    .as(name)
                    .contains(by.group(1).split(", ")));
        });
    }

    @Test
    void theirMetricsOfJvmAndSystemAreMeasured() throws IOException {
        Set<String> queried = new HashSet<>();
        Stream.concat(Expressions.ofAlerts().values().stream(), Expressions.ofDashboard("5m").values().stream())
                .forEach(expression ->
                        OF_THE_JVM.matcher(expression).results().forEach(found -> queried.add(found.group())));
        try (ProcessMetrics metrics = new ProcessMetrics("gateway", "1")) {
            String page = metrics.scrape(null).body();
            assertThat(queried).contains("process_start_time_seconds").allSatisfy(name -> assertThat(page)
                    .contains("\n# TYPE " + name + " "));
        }
    }

    @Test
    void rulesAreWellFormedAndFireWhenTheyShould() throws Exception {
        Promtool.require();
        for (String file : new String[] {"alerts.yaml", "prometheus.yaml"}) {
            Files.copy(Expressions.SHIPPED.resolve(file), folder.resolve(file));
        }
        Files.copy(Path.of("src/test/monitoring/alerts-test.yaml"), folder.resolve("alerts-test.yaml"));
        assertThat(Promtool.problems(folder, "check", "config", "prometheus.yaml"))
                .isEmpty();
        assertThat(Promtool.problems(folder, "test", "rules", "alerts-test.yaml"))
                .isEmpty();
    }

    @Test
    void theDashboardsExpressionsAreWellFormed() throws Exception {
        Promtool.require();
        StringBuilder rules = new StringBuilder("groups:\n  - name: dashboard\n    rules:\n");
        Expressions.ofDashboard("5m").values().forEach(expression -> rules.append("      - record: a:b")
                .append(rules.length())
                .append("\n        expr: '")
                .append(expression.replace("'", "''"))
                .append("'\n"));
        Files.writeString(folder.resolve("dashboard.yaml"), rules);
        assertThat(Promtool.problems(folder, "check", "rules", "dashboard.yaml"))
                .isEmpty();
        assertThat(Expressions.panelIds()).hasSizeGreaterThan(20).doesNotHaveDuplicates();
    }
}
