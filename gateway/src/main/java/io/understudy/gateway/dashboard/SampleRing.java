package io.understudy.gateway.dashboard;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The newest points of one resolution. Each merges consecutive samples: to the minimum or maximum if the series is one,
 * to the maximum for latencies and lags, otherwise to the mean. Not thread-safe.
 */
final class SampleRing {

    /** Mirrors add series; those beyond it are not kept. */
    static final int MOST_SERIES = 64;

    private final int perPoint;
    private final int most;
    private final long[] times;
    private final Map<String, float[]> columns = new LinkedHashMap<>();
    private final Map<String, DoubleSummaryStatistics> merged = new LinkedHashMap<>();

    /** Of points ever added. */
    private long count;

    /** In the last point. */
    private int samples;

    SampleRing(int perPoint, int most) {
        this.perPoint = perPoint;
        this.most = most;
        this.times = new long[most];
        this.samples = perPoint;
    }

    void add(Sample sample) {
        if (samples == perPoint) {
            samples = 0;
            count++;
            merged.clear();
            columns.values().forEach(column -> column[last()] = Float.NaN);
        }
        samples++;
        times[last()] = sample.timeMillis();
        sample.values().forEach(this::merge);
    }

    private void merge(String name, double value) {
        float[] column = columns.get(name);
        if (column == null) {
            if (columns.size() == MOST_SERIES) {
                columns.values().removeIf(SampleRing::isEmpty);
            }
            if (columns.size() == MOST_SERIES) {
                return;
            }
            column = new float[most];
            Arrays.fill(column, Float.NaN);
            columns.put(name, column);
        }
        DoubleSummaryStatistics values = merged.computeIfAbsent(name, key -> new DoubleSummaryStatistics());
        values.accept(value);
        column[last()] = (float) merged(name, values);
    }

    private static double merged(String name, DoubleSummaryStatistics values) {
        if (name.endsWith(".min")) {
            return values.getMin();
        }
        return name.endsWith(".max") || name.endsWith(".lag_ms") || name.startsWith("latency.")
                ? values.getMax()
                : values.getAverage();
    }

    private static boolean isEmpty(float[] column) {
        for (float value : column) {
            if (!Float.isNaN(value)) {
                return false;
            }
        }
        return true;
    }

    private int last() {
        return (int) ((count - 1) % most);
    }

    /** Returns whether no point after that time has been overwritten. */
    boolean reachesBackTo(long timeMillis) {
        return count <= most || times[(int) (count % most)] <= timeMillis;
    }

    /** Returns the time of the last point; 0 if there is none. */
    long lastMillis() {
        return count == 0 ? 0 : times[last()];
    }

    /** Returns the points after that time by series, with null for missing values. */
    JsonObject after(long timeMillis) {
        int[] wanted = wanted(timeMillis);
        JsonArray all = new JsonArray();
        for (int at : wanted) {
            all.add(times[at]);
        }
        JsonObject series = new JsonObject();
        columns.forEach((name, column) -> {
            JsonArray values = new JsonArray();
            boolean known = false;
            for (int at : wanted) {
                known |= !Float.isNaN(column[at]);
                values.add(Float.isNaN(column[at]) ? null : Sample.rounded(column[at]));
            }
            if (known) {
                series.put(name, values);
            }
        });
        return new JsonObject()
                .put("step_ms", perPoint * Samples.STEP.toMillis())
                .put("times", all)
                .put("series", series);
    }

    /** The indices of the points after that time, in order. */
    private int[] wanted(long timeMillis) {
        int held = (int) Math.min(count, most);
        int[] found = new int[held];
        int size = 0;
        for (long each = count - held; each < count; each++) {
            int at = (int) (each % most);
            if (times[at] > timeMillis) {
                found[size++] = at;
            }
        }
        return Arrays.copyOf(found, size);
    }
}
