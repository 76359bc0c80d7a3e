package io.understudy.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.TreeMap;

/** The report as JSON. */
final class ReadReportJson {

    private final ReadReport report;

    ReadReportJson(ReadReport report) {
        this.report = report;
    }

    String write() {
        ObjectNode root =
                ReportJson.root(report.surroundings(), report.settings().schedule());
        report.works().forEach(work -> write(work, root.withArray("works").addObject()));
        return ReportJson.write(root);
    }

    private void write(WorkResult result, ObjectNode node) {
        Work work = result.work();
        node.put("work", work.toString())
                .put("description", work.description())
                .put("api", work.api().toString())
                .put("inFlight", work.inFlight())
                .put("connections", report.settings().connections(work));
        ReportJson.putBefore(node, result.warmUps(), result.idleRates());
        write(result.paths(), node.putObject("paths"));
        if (!result.equalLoad().isEmpty()) {
            write(result.equalLoad(), node.putObject("equalLoad"));
        }
        result.distance().ifPresent(distance -> node.putObject("farVotersAdd")
                .put("p50Millis", distance.p50Millis())
                .put("p99Millis", distance.p99Millis()));
        for (WorkResult.Comparison comparison : result.comparisons()) {
            ObjectNode its = node.withArray("comparisons")
                    .addObject()
                    .put("peer", comparison.peer().toString())
                    .put("cpuShare", comparison.cpuShare());
            comparison.atMost().ifPresent(atMost -> its.put("cpuShareAtMost", atMost)
                    .put("cpuShareMet", comparison.isCheapEnough()));
            comparison.p99Share().ifPresent(share -> its.put("equalLoadP99Share", share));
        }
    }

    private static void write(Map<ServerPath, PathResult<Run>> results, ObjectNode node) {
        new TreeMap<>(results).forEach((path, result) -> {
            ObjectNode its = node.putObject(path.toString());
            if (result instanceof PathResult.Measured<Run> measured) {
                measured.runs().forEach(run -> write(run, its.withArray("runs").addObject()));
                write(measured.median(), its.putObject("median"));
            } else if (result instanceof PathResult.NotServed<Run> notServed) {
                its.put("notServed", notServed.reason());
            }
        });
    }

    private static void write(Run run, ObjectNode node) {
        node.put("requestsPerSecond", run.perSecond())
                .put("p50Millis", run.p50Millis())
                .put("p99Millis", run.p99Millis())
                .put("cpuMicrosPerRequest", run.cpuMicros());
        ReportJson.put(node.putObject("cpuMicrosPerRequestByRole"), run.cpuMicrosByRole());
    }
}
