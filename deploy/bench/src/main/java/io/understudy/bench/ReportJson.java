package io.understudy.bench;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/** What all reports have in JSON; names carry the units. */
final class ReportJson {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private ReportJson() {}

    /** A report that has only where and how long was measured. */
    static ObjectNode root(Surroundings surroundings, Schedule schedule) {
        ObjectNode root = MAPPER.createObjectNode();
        root.put("cores", surroundings.cores())
                .put("loadAverageBefore", surroundings.otherLoad())
                .put("etcd", surroundings.etcd())
                .put("java", surroundings.java())
                .put("loadGenerator", surroundings.loadGenerator());
        surroundings.gatewayJvm().forEach(root.putArray("gatewayJvm")::add);
        return root.put("warmUpMillis", schedule.warmUp().toMillis())
                .put("durationMillis", schedule.duration().toMillis())
                .put("roundTripMillis", schedule.roundTrip().toMillis())
                .put("authenticated", schedule.authenticated());
    }

    /** What went before the runs of a work. */
    static void putBefore(ObjectNode node, Map<ServerPath, Duration> warmUps, Map<Role, Double> idleRates) {
        ObjectNode its = node.putObject("firstWarmUpMillis");
        new TreeMap<>(warmUps).forEach((path, time) -> its.put(path.toString(), time.toMillis()));
        put(node.putObject("idleCpuMicrosPerSecond"), idleRates);
    }

    static void put(ObjectNode node, Map<Role, Double> figures) {
        new TreeMap<>(figures).forEach((role, figure) -> node.put(role.toString(), figure));
    }

    static String write(ObjectNode root) {
        try {
            return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(root);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write JSON", e);
        }
    }
}
