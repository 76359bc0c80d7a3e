package io.understudy.gateway.dashboard;

import io.vertx.core.json.JsonObject;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How far behind each mirror is, whichever process is its active one. */
final class MirrorLags {

    private static final String STANDBY = "standby";

    /** Processes that tell of these run one mirror. */
    private record Mirror(String name, @Nullable Object target) {}

    private MirrorLags() {}

    /**
     * In milliseconds, of those that tell it now: by name, and with the process after it for a second mirror that is called the
     * same.
     */
    static Map<String, Double> of(List<Neighbours.Told> processes) {
        Map<Mirror, String> labels = new LinkedHashMap<>();
        Map<String, Double> lags = new LinkedHashMap<>();
        for (Neighbours.Told process : processes) {
            for (JsonObject status : Overview.mirrorsOf(process.status())) {
                if (status.getValue("name") instanceof String name) {
                    // Also of those who don't answer now, lest others change their names by that.
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
