package io.understudy.gateway.dashboard;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The samples of the last quarter of an hour. For any thread. */
final class Samples {

    static final Duration STEP = Duration.ofSeconds(1);
    static final int MOST = (int) (Duration.ofMinutes(15).toMillis() / STEP.toMillis());

    private final Deque<Sample> samples = new ArrayDeque<>(MOST);

    synchronized void add(Sample sample) {
        if (samples.size() == MOST) {
            samples.removeFirst();
        }
        samples.addLast(sample);
    }

    /**
     * Returns those after that time by series, with null for missing values. Returns all if that is later than the
     * last: the clocks differ.
     */
    JsonObject after(long timeMillis) {
        List<Sample> wanted;
        synchronized (this) {
            Sample last = samples.peekLast();
            boolean known = last != null && last.timeMillis() >= timeMillis;
            wanted = samples.stream()
                    .filter(sample -> !known || sample.timeMillis() > timeMillis)
                    .toList();
        }
        Set<String> names = new LinkedHashSet<>();
        wanted.forEach(sample -> names.addAll(sample.values().keySet()));
        JsonArray times = new JsonArray();
        wanted.forEach(sample -> times.add(sample.timeMillis()));
        JsonObject series = new JsonObject();
        for (String name : names) {
            JsonArray values = new JsonArray();
            for (Sample sample : wanted) {
                Double value = sample.values().get(name);
                if (value == null) {
                    values.addNull();
                } else {
                    values.add(Sample.rounded(value));
                }
            }
            series.put(name, values);
        }
        return new JsonObject()
                .put("step_ms", STEP.toMillis())
                .put("times", times)
                .put("series", series);
    }
}
