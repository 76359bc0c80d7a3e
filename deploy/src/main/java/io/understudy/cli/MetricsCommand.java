package io.understudy.cli;

import io.understudy.metrics.Metric;
import io.understudy.reference.MetricsReference;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code understudy metrics}: the reference of all meters. */
@Command(name = "metrics", description = "Print all metrics with type, unit, tags and meaning.")
final class MetricsCommand implements Runnable {

    /** How the reference is printed. */
    enum Form {
        TEXT,
        MARKDOWN
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
            paramLabel = "FORM",
            defaultValue = "text",
            description = "Output format: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Form form;

    @Override
    public void run() {
        var out = spec.commandLine().getOut();
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
            found.forEach(metric -> out.print(entry(metric)));
        }
        out.flush();
    }

    /** The first two words of each name, which tell whose it is. */
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
