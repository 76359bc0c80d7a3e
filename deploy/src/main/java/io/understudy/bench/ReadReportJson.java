package io.understudy.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.TreeMap;

/** The report as JSON; names carry the units. */
final class ReadReportJson {

    private final ReadReport report;

    ReadReportJson(ReadReport report) {
        this.report = report;
    }

    String write() {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode root = mapper.createObjectNode();
        Surroundings surroundings = report.surroundings();
        root.put("cores", surroundings.cores())
                .put("loadAverageBefore", surroundings.otherLoad())
                .put("etcd", surroundings.etcd())
                .put("java", surroundings.java())
                .put("loadGenerator", surroundings.loadGenerator());
        surroundings.gatewayJvm().forEach(root.putArray("gatewayJvm")::add);
        root.put("warmUpMillis", report.settings().warmUp().toMillis())
                .put("durationMillis", report.settings().duration().toMillis())
                .put("roundTripMillis", report.settings().roundTrip().toMillis());
        report.works().forEach(work -> write(work, root.withArray("works").addObject()));
        try {
            return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(root);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a tree of plain values can always be written", e);
        }
    }

    private void write(WorkResult result, ObjectNode node) {
        Work work = result.work();
        node.put("work", work.toString())
                .put("description", work.description())
                .put("api", work.api().toString())
                .put("inFlight", work.inFlight())
                .put("connections", report.settings().connections(work));
        ObjectNode warmUps = node.putObject("firstWarmUpMillis");
        new TreeMap<>(result.warmUps()).forEach((path, time) -> warmUps.put(path.toString(), time.toMillis()));
        put(node.putObject("idleCpuMicrosPerSecond"), result.idleRates());
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

    private static void write(Map<ReadPath, PathResult> results, ObjectNode node) {
        new TreeMap<>(results).forEach((path, result) -> {
            ObjectNode its = node.putObject(path.toString());
            if (result instanceof PathResult.Measured measured) {
                measured.runs().forEach(run -> write(run, its.withArray("runs").addObject()));
                write(measured.median(), its.putObject("median"));
            } else if (result instanceof PathResult.NotServed notServed) {
                its.put("notServed", notServed.reason());
            }
        });
    }

    private static void write(Run run, ObjectNode node) {
        node.put("requestsPerSecond", run.perSecond())
                .put("p50Millis", run.p50Millis())
                .put("p99Millis", run.p99Millis())
                .put("cpuMicrosPerRequest", run.cpuMicros());
        put(node.putObject("cpuMicrosPerRequestByRole"), run.cpuMicrosByRole());
    }

    private static void put(ObjectNode node, Map<Role, Double> figures) {
        new TreeMap<>(figures).forEach((role, figure) -> node.put(role.toString(), figure));
    }
}
