package io.understudy.bench;

import io.understudy.report.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The report as tables. */
final class ReadReportText {

    private final ReadReport report;

    ReadReportText(ReadReport report) {
        this.report = report;
    }

    String write() {
        ReadBenchSettings settings = report.settings();
        List<String> lines = new ArrayList<>();
        lines.add(report.surroundings().toText());
        lines.add("Warm-up: " + seconds(settings.firstWarmUp().toMillis()) + " s of each path; then each run: "
                + seconds(settings.warmUp().toMillis()) + " s of warm-up, about "
                + seconds(settings.duration().toMillis()) + " s measured; paths in turn. Figures of the median are each"
                + " one's own.");
        lines.add("CPU: user and system time of all server processes of the path, less what they use when idle: "
                + byRole(report.idleRates(), 1e-3) + " ms per second.");
        if (!settings.roundTrip().isZero()) {
            lines.add("Voters are " + settings.roundTrip().toMillis()
                    + " ms (round trip) away from gateway, learner, grpc-proxy and load.");
        }
        report.works().forEach(work -> {
            lines.add("");
            lines.addAll(of(work));
        });
        return String.join("\n", lines);
    }

    private List<String> of(WorkResult result) {
        Work work = result.work();
        List<String> lines = new ArrayList<>();
        lines.add(work + ": " + work.description() + ", " + work.api() + ", " + work.inFlight() + " in flight on "
                + report.settings().connections(work) + " connections");
        TextTable table = new TextTable("path", "run", "requests/s", "p50 ms", "p99 ms", "CPU us/request", "of which");
        work.paths().forEach(path -> addTo(table, path, result.paths().get(path)));
        lines.addAll(table.lines());
        for (WorkResult.Comparison each : result.comparisons()) {
            lines.add(of(each));
        }
        return lines;
    }

    private static void addTo(TextTable table, ReadPath path, @Nullable PathResult result) {
        if (result instanceof PathResult.NotServed notServed) {
            table.row(path.toString(), "not served", "", "", "", "", notServed.reason());
        } else if (result instanceof PathResult.Measured measured) {
            int number = 1;
            for (Run run : measured.runs()) {
                row(table, path, Integer.toString(number++), run);
            }
            row(table, path, "median", measured.median());
        }
    }

    private static void row(TextTable table, ReadPath path, String name, Run run) {
        table.row(
                path.toString(),
                name,
                format("%.0f", run.perSecond()),
                format("%.2f", run.p50Millis()),
                format("%.2f", run.p99Millis()),
                format("%.1f", run.cpuMicros()),
                byRole(run.cpuMicrosByRole(), 1));
    }

    private static String of(WorkResult.Comparison comparison) {
        String target = comparison.atMost().isPresent()
                ? ", at most 1/" + format("%.1f", 1 / comparison.atMost().getAsDouble()) + ": "
                        + (comparison.met() ? "met" : "missed")
                : "";
        return "CPU per request, gateway to " + comparison.peer() + ": 1/"
                + format("%.2f", 1 / comparison.cpuShare()) + target + "; p99: "
                + format("%.2f", comparison.p99Share());
    }

    private static String byRole(Map<Role, Double> figures, double scale) {
        return new TreeMap<>(figures)
                .entrySet().stream()
                        .map(each -> each.getKey() + " " + format("%.1f", each.getValue() * scale + 0.0))
                        .collect(Collectors.joining(", "));
    }

    private static String seconds(long millis) {
        return format("%.1f", millis / 1e3);
    }

    private static String format(String form, double figure) {
        return String.format(Locale.ROOT, form, figure);
    }
}
