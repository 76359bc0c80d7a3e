package io.understudy.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The runs of one path.
 *
 * @param missing the key, in JSON, of the reason for missing runs; empty if there are runs
 * @param reason the error message of the path
 */
public record Series(List<Run> runs, String missing, String reason) {

    public Series {
        runs = List.copyOf(runs);
    }

    public Series(List<Run> runs) {
        this(runs, "", "");
    }

    static Series notServed(Exception reason) {
        return new Series(List.of(), "notServed", String.valueOf(reason.getMessage()));
    }

    static Series failed(Exception reason) {
        return new Series(List.of(), "failed", String.valueOf(reason.getMessage()));
    }

    Optional<Run> median() {
        return runs.isEmpty() ? Optional.empty() : Optional.of(Run.median(runs));
    }

    Map<String, Object> json() {
        Map<String, Object> json = new LinkedHashMap<>();
        if (missing.isEmpty()) {
            json.put("runs", runs.stream().map(Run::json).toList());
        } else {
            json.put(missing, reason);
        }
        median().ifPresent(median -> json.put("median", median.json()));
        return json;
    }
}
