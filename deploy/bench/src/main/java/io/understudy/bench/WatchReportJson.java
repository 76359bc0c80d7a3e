package io.understudy.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.bench.PathResult.Failed;
import io.understudy.bench.PathResult.Measured;
import io.understudy.bench.PathResult.NotServed;
import java.util.TreeMap;

/** The report as JSON. */
final class WatchReportJson {

    private final WatchReport report;

    WatchReportJson(WatchReport report) {
        this.report = report;
    }

    String write() {
        ObjectNode root =
                ReportJson.root(report.surroundings(), report.settings().schedule());
        root.put("putsPerSecond", report.settings().putsPerSecond());
        report.settings().inFlight().forEach(root.putArray("putsInFlight")::add);
        report.works().forEach(work -> write(work, root.withArray("works").addObject()));
        return ReportJson.write(root);
    }

    private static void write(WatchResult result, ObjectNode node) {
        node.put("work", result.work().toString())
                .put("description", result.work().description());
        ReportJson.putBefore(node, result.warmUps(), result.idleRates());
        ObjectNode paths = node.putObject("paths");
        new TreeMap<>(result.paths()).forEach((path, its) -> write(its, paths.putObject(path.toString())));
        for (WatchAim.Outcome outcome : result.outcomes()) {
            write(outcome, node.withArray("aims").addObject());
        }
    }

    private static void write(PathResult<WatchRun> result, ObjectNode node) {
        if (result instanceof Measured<WatchRun> measured) {
            measured.runs().forEach(run -> write(run, node.withArray("runs").addObject()));
            write(measured.median(), node.putObject("median"));
        } else if (result instanceof NotServed<WatchRun> notServed) {
            node.put("notServed", notServed.reason());
        } else if (result instanceof Failed<WatchRun> failed) {
            node.put("failed", failed.reason());
        }
    }

    private static void write(WatchRun run, ObjectNode node) {
        new TreeMap<>(run.figures()).forEach((figure, value) -> node.put(figure.jsonName(), value));
        if (!run.cpuMicrosByRole().isEmpty()) {
            ReportJson.put(node.putObject("cpuMicrosPerEventByRole"), run.cpuMicrosByRole());
        }
    }

    private static void write(WatchAim.Outcome outcome, ObjectNode node) {
        WatchAim aim = outcome.aim();
        node.put("figure", aim.figure().jsonName());
        aim.peer().ifPresent(peer -> node.put("shareOf", peer.toString()));
        node.put("value", outcome.value());
        if (!Double.isInfinite(aim.atLeast())) {
            node.put("atLeast", aim.atLeast());
        }
        if (!Double.isInfinite(aim.atMost())) {
            node.put("atMost", aim.atMost());
        }
        node.put("met", outcome.isMet());
    }
}
