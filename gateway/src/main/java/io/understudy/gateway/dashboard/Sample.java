package io.understudy.gateway.dashboard;

import io.vertx.core.json.JsonObject;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Values at one time.
 *
 * @param timeMillis since 1970
 * @param values by name of the series; unknown ones are missing. In order
 */
record Sample(long timeMillis, Map<String, Double> values) {

    Sample {
        values = Collections.unmodifiableMap(new LinkedHashMap<>(values));
    }

    JsonObject json() {
        JsonObject shown = new JsonObject();
        values.forEach((name, value) -> shown.put(name, rounded(value)));
        return new JsonObject().put("time", timeMillis).put("values", shown);
    }

    /** Rounded to three decimal places. */
    static double rounded(double value) {
        return Math.round(value * 1_000) / 1_000.0;
    }
}
