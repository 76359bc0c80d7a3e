package io.understudy.gateway.dashboard;

import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The lag of each mirror, reported by its active process. */
final class MirrorLags {

    private static final String STANDBY = "standby";

    /** Processes with equal ones run the same mirror. */
    private record Mirror(String name, @Nullable Object target) {}

    private MirrorLags() {}

    /**
     * Returns the current lags in milliseconds by name. A second mirror of the same name has its process in the name.
     */
    static Map<String, Double> of(List<Neighbours.Report> processes) {
        Map<Mirror, String> labels = new LinkedHashMap<>();
        Map<String, Double> lags = new LinkedHashMap<>();
        for (Neighbours.Report process : processes) {
            for (JsonObject status : Overview.mirrorsOf(process.status())) {
                if (status.getValue("name") instanceof String name) {
                    // Includes unreachable ones, so that the names of others stay the same.
                    String label = labels.computeIfAbsent(
                            new Mirror(name, status.getValue("target")),
                            mirror -> labels.containsValue(name)
                                    ? name + " at " + process.neighbour().url().getAuthority()
                                    : name);
                    if (process.problem() == null
                            && !STANDBY.equals(status.getValue("state"))
                            && status.getValue("lagMillis") instanceof Number lag) {
                        lags.putIfAbsent(label, lag.doubleValue());
                    }
                }
            }
        }
        return lags;
    }
}
