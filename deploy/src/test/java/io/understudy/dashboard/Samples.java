package io.understudy.dashboard;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Random;
import java.util.function.IntToDoubleFunction;

/** Some time of a made-up cluster that is busy; the same each time. */
final class Samples {

    private final Random random = new Random(7);
    private final ObjectNode root = JsonNodeFactory.instance.objectNode();
    private final ObjectNode series = JsonNodeFactory.instance.objectNode();

    private final int count;

    private Samples(long now, int count, long stepMillis) {
        this.count = count;
        root.put("gateway", "berlin-1").put("step_ms", stepMillis);
        ArrayNode times = root.putArray("times");
        for (int i = 0; i < count; i++) {
            times.add(now - (count - 1 - i) * stepMillis);
        }
        root.set("series", series);
    }

    /** Of the last fifteen minutes. */
    static ObjectNode until(long now) {
        return until(now, 900, 1_000);
    }

    static ObjectNode until(long now, int count, long stepMillis) {
        Samples samples = new Samples(now, count, stepMillis);
        samples.wave("reads.serializable", 820, 160);
        samples.wave("reads.bounded", 260, 60);
        samples.wave("reads.at-least", 30, 20);
        samples.wave("reads.linearizable", 130, 45);
        samples.wave("reads.from.replica", 1190, 190);
        samples.wave("reads.from.learner", 12, 8);
        samples.wave("reads.from.gateway", 0, 0);
        samples.wave("reads.from.voter", 6, 4);
        samples.wave("latency.p50_ms", 0.4, 0.1);
        samples.wave("latency.p99_ms", 3.1, 1.2);
        samples.wave("staleness_ms", 104, 6);
        samples.wave("staleness_ms.min", 2, 1);
        samples.wave("staleness_ms.max", 212, 18);
        samples.add("watchers", i -> 300 + Math.floor(i / 60.0) * 2 + (i > 500 ? 12 : 0));
        samples.wave("watch.events", 1450, 420);
        samples.wave("apply", 46, 16);
        samples.wave("mirror.dr.lag_ms", 44, 22);
        samples.wave("mirror.kafka.lag_ms", 27, 12);
        samples.wave("mirror.edge.lag_ms", 92, 30);
        return samples.root;
    }

    /** Puts them into an overview as its own, once. */
    static void last(ObjectNode overview, ObjectNode samples, long time) {
        ObjectNode sample = overview.putObject("sample").put("time", time);
        ObjectNode values = sample.putObject("values");
        samples.get("series")
                .properties()
                .forEach(each -> values.set(
                        each.getKey(), each.getValue().get(each.getValue().size() - 1)));
    }

    private void wave(String name, double middle, double swing) {
        double phase = random.nextDouble() * 6;
        add(name, i -> Math.max(0, middle + swing * (Math.sin(i / 70.0 + phase) * 0.7 + random.nextGaussian() * 0.08)));
    }

    private void add(String name, IntToDoubleFunction value) {
        ArrayNode column = series.putArray(name);
        for (int i = 0; i < count; i++) {
            column.add(Math.round(value.applyAsDouble(i) * 10) / 10.0);
        }
    }
}
