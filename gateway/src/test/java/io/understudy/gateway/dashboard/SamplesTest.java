package io.understudy.gateway.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

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
}
