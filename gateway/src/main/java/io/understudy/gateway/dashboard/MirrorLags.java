package io.understudy.gateway.dashboard;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/** Labels and lags of the mirrors in an overview. Processes with the same mirror have one label. */
final class MirrorLags {

    private static final String LABEL = "label";

    private MirrorLags() {}

    /** Adds a label to each mirror: its name, and the process for a second one of that name with another target. */
    static JsonArray labelled(JsonArray processes) {
        Map<String, String> labels = new HashMap<>();
        forEach(processes, (process, mirror) -> {
            String name = String.valueOf(mirror.getValue("name"));
            String at = name + " at " + URI.create(process.getString("url")).getAuthority();
            mirror.put(
                    LABEL,
                    labels.computeIfAbsent(
                            name + " " + mirror.getValue("target"), key -> labels.containsValue(name) ? at : name));
        });
        return processes;
    }

    /** Returns the lag of each mirror by label in milliseconds, as reported by its active process. */
    static Map<String, Double> of(JsonArray processes) {
        Map<String, Double> lags = new LinkedHashMap<>();
        forEach(processes, (process, mirror) -> {
            if (process.getBoolean("reachable")
                    && !"standby".equals(mirror.getValue("state"))
                    && mirror.getValue("lagMillis") instanceof Number lag) {
                lags.putIfAbsent(mirror.getString(LABEL), lag.doubleValue());
            }
        });
        return lags;
    }

    private static void forEach(JsonArray processes, BiConsumer<JsonObject, JsonObject> action) {
        for (Object each : processes) {
            JsonObject process = (JsonObject) each;
            process.getJsonArray("mirrors", new JsonArray())
                    .forEach(mirror -> action.accept(process, (JsonObject) mirror));
        }
    }
}
