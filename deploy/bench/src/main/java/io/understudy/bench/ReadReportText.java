package io.understudy.bench;

import static io.understudy.bench.ReportText.byRole;
import static io.understudy.bench.ReportText.format;
import static io.understudy.bench.ReportText.seconds;
import static io.understudy.bench.ReportText.verdict;

import io.understudy.report.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The report as tables. */
final class ReadReportText {

    private final ReadReport report;

    ReadReportText(ReadReport report) {
        this.report = report;
    }

    String write() {
        Schedule schedule = report.settings().schedule();
        List<String> lines = new ArrayList<>();
        lines.add(report.surroundings().toText());
        lines.add("Paths in turn; each run has " + seconds(schedule.warmUp()) + " of warm-up and about "
                + seconds(schedule.duration())
                + " of measurement; runs at equal load have no warm-up. Medians are per figure.");
        lines.add("CPU: user and system time of all server processes of the path, minus idle usage.");
        if (schedule.authenticated()) {
            lines.add("Authentication is enabled: all clients use the token of a user.");
        }
        if (!schedule.roundTrip().isZero()) {
            lines.add("Round trip from the voting members to gateway, learner, grpc-proxy and load: "
                    + schedule.roundTrip().toMillis() + " ms, except for gateway-near.");
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
        lines.addAll(table(work, result.paths()));
        lines.add(ReportText.before(result.warmUps(), result.idleRates()));
        if (!result.equalLoad().isEmpty()) {
            lines.add("at equal load:");
            lines.addAll(table(work, result.equalLoad()));
        }
        result.comparisons().forEach(each -> lines.add(of(each)));
        result.distance().ifPresent(distance -> lines.add(of(work, distance)));
        return lines;
    }

    private String of(Work work, WorkResult.Distance distance) {
        double roundTrip = report.settings().schedule().roundTrip().toMillis();
        String figures = String.format(
                Locale.ROOT,
                "added by distant voting members at equal load: p50 %.2f ms, p99 %.2f ms (%.2f and %.2f round trips)",
                distance.p50Millis(),
                distance.p99Millis(),
                distance.p50Millis() / roundTrip,
                distance.p99Millis() / roundTrip);
        return work.isLinearizable()
                ? figures + ", p99 at most 2: "
                        + verdict(distance.isShortEnough(
                                report.settings().schedule().roundTrip()))
                : figures;
    }

    private List<String> table(Work work, Map<ServerPath, PathResult<Run>> paths) {
        TextTable table = new TextTable("path", "run", "requests/s", "p50 ms", "p99 ms", "CPU us/request", "of which");
        report.settings().paths(work).forEach(path -> addTo(table, path, paths.get(path)));
        return table.lines();
    }

    private static void addTo(TextTable table, ServerPath path, @Nullable PathResult<Run> result) {
        if (result instanceof PathResult.NotServed<Run> notServed) {
            table.row(path.toString(), "not served", "", "", "", "", notServed.reason());
        } else if (result instanceof PathResult.Measured<Run> measured) {
            int number = 1;
            for (Run run : measured.runs()) {
                row(table, path, Integer.toString(number++), run);
            }
            row(table, path, "median", measured.median());
        }
    }

    private static void row(TextTable table, ServerPath path, String name, Run run) {
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
        StringBuilder line = new StringBuilder("gateway to ")
                .append(comparison.peer())
                .append(": CPU 1/")
                .append(format("%.2f", 1 / comparison.cpuShare()));
        comparison.atMost().ifPresent(atMost -> line.append(", at most 1/")
                .append(format("%.1f", 1 / atMost))
                .append(": ")
                .append(verdict(comparison.isCheapEnough())));
        comparison.p99Share().ifPresent(share -> line.append("; p99 at equal load ")
                .append(format("%.2f", share))
                .append(" of the peer's")
                .append(comparison.atMost().isEmpty() ? "" : ", at most 1: " + verdict(comparison.isFastEnough())));
        return line.toString();
    }
}
