package io.understudy.gateway.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.gateway.dashboard.Samples.SampleRing;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class SamplesTest {

    private final Samples samples = new Samples();

    @Test
    void missingValuesAreNull() {
        samples.add(new Sample(1_000, Map.of("a", 1.0)));
        samples.add(new Sample(2_000, Map.of("b", 2.00049)));
        assertThat(samples.after(0))
                .isEqualTo(new JsonObject()
                        .put("step_ms", 1_000L)
                        .put("times", new JsonArray().add(1_000L).add(2_000L))
                        .put(
                                "series",
                                new JsonObject()
                                        .put("a", new JsonArray().add(1.0).addNull())
                                        .put("b", new JsonArray().addNull().add(2.0))));
    }

    @Test
    void aClientReceivesTheSamplesAfterItsLast() {
        samples.add(new Sample(1_000, Map.of("a", 1.0)));
        samples.add(new Sample(2_000, Map.of("a", 2.0)));
        assertThat(samples.after(1_000).getJsonArray("times")).containsExactly(2_000L);
        assertThat(samples.after(2_000).getJsonObject("series")).isEmpty();
    }

    @Test
    void aClientWithALaterTimeReceivesAllSamples() {
        samples.add(new Sample(1_000, Map.of("a", 1.0)));
        samples.add(new Sample(2_000, Map.of("a", 2.0)));
        assertThat(samples.after(2_001).getJsonArray("times")).containsExactly(1_000L, 2_000L);
    }

    @Test
    void samplesExpireAfterAQuarterOfAnHour() {
        for (int i = 1; i <= 901; i++) {
            samples.add(new Sample(i * 1_000L, Map.of("a", 1.0)));
        }
        assertThat(samples.after(0).getJsonArray("times")).hasSize(900).first().isEqualTo(2_000L);
    }

    @Test
    void pointsOfLongerRangesMergeTheirSamples() {
        for (int i = 0; i < 960; i++) {
            samples.add(new Sample(
                    (i + 1) * 1_000L,
                    Map.of("apply", i % 15.0, "a.min", i % 15.0, "a.max", i % 15.0, "mirror.dr.lag_ms", i % 15.0)));
        }
        JsonObject since = samples.since(0);
        assertThat(since.getLong("step_ms")).isEqualTo(15_000);
        assertThat(since.getJsonArray("times")).hasSize(64).first().isEqualTo(15_000L);
        JsonObject series = since.getJsonObject("series");
        assertThat(series.getJsonArray("apply")).containsOnly(7.0);
        assertThat(series.getJsonArray("a.min")).containsOnly(0.0);
        assertThat(series.getJsonArray("a.max")).containsOnly(14.0);
        assertThat(series.getJsonArray("mirror.dr.lag_ms")).containsOnly(14.0);
    }

    @Test
    void theFinestResolutionThatHasAllSamplesIsReturned() {
        addSeconds(26 * 3_600);
        long last = 26 * 3_600_000L;
        assertThat(samples.since(last - 600_000).getLong("step_ms")).isEqualTo(1_000);
        assertThat(samples.since(last - 3_600_000).getLong("step_ms")).isEqualTo(15_000);
        assertThat(samples.since(last - 12 * 3_600_000).getLong("step_ms")).isEqualTo(60_000);
        assertThat(samples.since(0).getJsonArray("times")).hasSize(1_440).last().isEqualTo(last);
    }

    @Test
    void anUnfinishedPointIsReturned() {
        addSeconds(1_000);
        assertThat(samples.since(0).getJsonArray("times")).last().isEqualTo(1_000_000L);
    }

    @Test
    void theNumberOfSeriesIsBounded_andForgottenOnesGiveWay() {
        for (int i = 0; i < 2 * SampleRing.MOST_SERIES; i++) {
            samples.add(new Sample(i + 1, Map.of("mirror." + i + ".lag_ms", 1.0)));
        }
        assertThat(samples.after(0).getJsonObject("series")).hasSize(SampleRing.MOST_SERIES);
        addSeconds(1_000);
        samples.add(new Sample(1_001_000, Map.of("mirror.late.lag_ms", 1.0)));
        assertThat(samples.after(0).getJsonObject("series").fieldNames())
                .containsExactlyInAnyOrder("a", "mirror.late.lag_ms");
    }

    private void addSeconds(int count) {
        for (int i = 1; i <= count; i++) {
            samples.add(new Sample(i * 1_000L, Map.of("a", 1.0)));
        }
    }
}
