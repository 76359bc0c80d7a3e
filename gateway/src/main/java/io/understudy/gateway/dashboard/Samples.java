package io.understudy.gateway.dashboard;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The samples of the last 15 minutes, 6 hours and 24 hours, with a point for each second, 15 seconds and minute.
 * Thread-safe.
 *
 * <p>Takes at most 1 MiB: {@link SampleRing#MOST_SERIES} series of 3,780 values of 4 bytes.
 */
final class Samples {

    static final Duration STEP = Duration.ofSeconds(1);

    private final SampleRing recent = new SampleRing(1, 900);
    private final List<SampleRing> rings = List.of(recent, new SampleRing(15, 1_440), new SampleRing(60, 1_440));

    synchronized void add(Sample sample) {
        rings.forEach(ring -> ring.add(sample));
    }

    /**
     * Returns those of the last 15 minutes after that time by series, with null for missing values. Returns all if that
     * is later than the last: the clocks differ.
     */
    synchronized JsonObject after(long timeMillis) {
        return recent.after(recent.lastMillis() >= timeMillis ? timeMillis : 0);
    }

    /** Returns those since that time, in the finest resolution that still has all of them. */
    synchronized JsonObject since(long timeMillis) {
        SampleRing finest = rings.stream()
                .filter(ring -> ring.reachesBackTo(timeMillis))
                .findFirst()
                .orElse(rings.get(rings.size() - 1));
        return finest.after(timeMillis - 1);
    }

    /**
     * The newest points of one resolution. Each merges consecutive samples: to the minimum or maximum if the series is one,
     * to the maximum for latencies and lags, otherwise to the mean. Not thread-safe.
     */
    static final class SampleRing {

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
}
