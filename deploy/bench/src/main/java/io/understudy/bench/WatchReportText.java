package io.understudy.bench;

import static io.understudy.bench.ReportText.byRole;
import static io.understudy.bench.ReportText.format;
import static io.understudy.bench.ReportText.seconds;
import static io.understudy.bench.ReportText.verdict;

import io.understudy.bench.PathResult.Failed;
import io.understudy.bench.PathResult.Measured;
import io.understudy.bench.PathResult.NotServed;
import io.understudy.report.TextTable;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The report as tables. */
final class WatchReportText {

    private final WatchReport report;

    WatchReportText(WatchReport report) {
        this.report = report;
    }

    String write() {
        Schedule schedule = report.settings().schedule();
        List<String> lines = new ArrayList<>();
        lines.add(report.surroundings().toText());
        lines.add("Paths in turn; each run has about " + seconds(schedule.duration())
                + " of measurement. Medians are per figure. Values of " + DataSet.VALUE_BYTES
                + " B are put at the leader; the event count of every watcher was checked.");
        lines.add("p50, p99: from the acknowledgement of a put to its delivery; sent p50, p99: from sending the put.");
        lines.add(
                "CPU: user and system time of all server processes of the path, minus usage without watchers and puts;"
                        + " less puts: also minus the cost of as many puts with one watcher.");
        if (schedule.authenticated()) {
            lines.add("Authentication is enabled: all clients use the token of a user.");
        }
        if (!schedule.roundTrip().isZero()) {
            lines.add("Round trip from the voting members to gateway, learner, grpc-proxy and watchers: "
                    + schedule.roundTrip().toMillis() + " ms; to the writer: none.");
        }
        report.works().forEach(work -> {
            lines.add("");
            lines.addAll(of(work));
        });
        return String.join("\n", lines);
    }

    private List<String> of(WatchResult result) {
        List<String> lines = new ArrayList<>();
        lines.add(result.work() + ": " + result.work().description() + demand(result.work()));
        lines.addAll(table(result));
        lines.add(ReportText.before(result.warmUps(), result.idleRates()));
        result.outcomes().forEach(outcome -> lines.add(of(outcome)));
        return lines;
    }

    private String demand(WatchWork work) {
        return switch (work.demand()) {
            case NONE -> ": growth of the serving process's resident memory; for the gateway after 'jcmd GC.run'";
            case PACED -> ", " + report.settings().putsPerSecond() + " puts/s";
            case FULL ->
                ", puts as fast as the number in flight allows (sent, not yet delivered to every watcher): the fastest of "
                        + report.settings().inFlight();
        };
    }

    private static List<String> table(WatchResult result) {
        Set<WatchFigure> figures = EnumSet.noneOf(WatchFigure.class);
        result.paths().values().forEach(path -> {
            if (path instanceof Measured<WatchRun> measured) {
                figures.addAll(measured.median().figures().keySet());
            }
        });
        Stream<String> headings = figures.stream().map(WatchFigure::title);
        TextTable table = new TextTable(row("path", "run", headings, "of which"));
        result.work().paths().forEach(path -> addTo(table, path, result.paths().get(path), figures));
        return table.lines();
    }

    private static void addTo(
            TextTable table, ServerPath path, @Nullable PathResult<WatchRun> result, Set<WatchFigure> figures) {
        if (result instanceof NotServed<WatchRun> notServed) {
            table.row(row(path.toString(), "not served", figures.stream().map(figure -> ""), notServed.reason()));
        } else if (result instanceof Failed<WatchRun> failed) {
            table.row(row(path.toString(), "failed", figures.stream().map(figure -> ""), failed.reason()));
        } else if (result instanceof Measured<WatchRun> measured) {
            int number = 1;
            for (WatchRun run : measured.runs()) {
                table.row(row(path, Integer.toString(number++), run, figures));
            }
            table.row(row(path, "median", measured.median(), figures));
        }
    }

    private static String[] row(ServerPath path, String name, WatchRun run, Set<WatchFigure> figures) {
        Stream<String> cells = figures.stream()
                .map(figure -> run.figures().containsKey(figure)
                        ? figure.format(run.figures().get(figure))
                        : "");
        return row(path.toString(), name, cells, byRole(run.cpuMicrosByRole(), 1));
    }

    private static String[] row(String path, String run, Stream<String> cells, String rest) {
        return Stream.concat(Stream.concat(Stream.of(path, run), cells), Stream.of(rest))
                .toArray(String[]::new);
    }

    private static String of(WatchAim.Outcome outcome) {
        WatchAim aim = outcome.aim();
        return "gateway" + aim.peer().map(peer -> " to " + peer).orElse("") + ": "
                + aim.figure().title() + " " + format("%.2f", outcome.value())
                + (Double.isInfinite(aim.atLeast()) ? "" : ", at least " + format("%.2f", aim.atLeast()))
                + (Double.isInfinite(aim.atMost()) ? "" : ", at most " + format("%.2f", aim.atMost()))
                + ": " + verdict(outcome.isMet());
    }
}
