package io.understudy.cli;

import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.metrics.Metric;
import io.understudy.reference.MetricsReference;
import java.io.PrintWriter;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code understudy metrics}: the reference of all meters. */
@Command(name = "metrics", description = "Print all metrics with type, unit, tags and meaning.")
final class MetricsCommand implements Runnable {

    private enum Form {
        TABLE,
        JSON,
        MARKDOWN,
        /** Former name of {@link #TABLE}. */
        TEXT;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** All forms but the former name. */
    static final class Forms implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return List.of("table", "json", "markdown").iterator();
        }
    }

    @Spec
    private CommandSpec spec;

    @Parameters(
            arity = "0..1",
            paramLabel = "PART",
            defaultValue = "",
            description = "Part of a metric name or of its Prometheus name (default: all metrics).")
    private String part;

    @Option(
            names = "--output",
            paramLabel = "table|json|markdown",
            completionCandidates = Forms.class,
            defaultValue = "table",
            description = "Output format.")
    private Form form;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        if (form == Form.TEXT) {
            spec.commandLine().getErr().println("understudy: --output text has a new name: --output table");
        }
        if (form == Form.MARKDOWN) {
            out.print(MetricsReference.markdown());
        } else {
            List<Metric> found = MetricsReference.sections().stream()
                    .flatMap(section -> section.metrics().stream())
                    .filter(metric -> metric.name().contains(part)
                            || metric.prometheusName().contains(part))
                    .toList();
            if (found.isEmpty()) {
                throw new ParameterException(
                        spec.commandLine(),
                        "no metric name contains '" + part + "'; names begin with " + String.join(", ", beginnings()));
            }
            if (form == Form.JSON) {
                out.println(new JsonMapper()
                        .valueToTree(found.stream().map(MetricsCommand::fields).toList())
                        .toPrettyString());
            } else {
                found.forEach(metric -> out.print(entry(metric)));
            }
        }
        out.flush();
    }

    private static Map<String, Object> fields(Metric metric) {
        return Output.cells(
                "name", metric.name(),
                "prometheusName", metric.prometheusName(),
                "type", metric.type().word(),
                "unit", metric.shownUnit(),
                "tags", MetricsReference.tags(metric, ""),
                "meaning", metric.meaning());
    }

    /** The first two words of each name, which identify its component. */
    private static List<String> beginnings() {
        return MetricsReference.sections().stream()
                .flatMap(section -> section.metrics().stream())
                .map(metric -> metric.name().replaceFirst("^(\\w+\\.\\w+).*", "$1"))
                .distinct()
                .toList();
    }

    private static String entry(Metric metric) {
        String unit = metric.shownUnit().isEmpty() ? "" : ", " + metric.shownUnit();
        String tags = metric.tags().isEmpty() ? "" : "    tags: " + MetricsReference.tags(metric, "") + "\n";
        return "%s  %s%s\n    %s\n%s"
                .formatted(metric.prometheusName(), metric.type().word(), unit, metric.meaning(), tags);
    }
}
