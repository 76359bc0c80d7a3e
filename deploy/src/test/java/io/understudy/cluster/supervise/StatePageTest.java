package io.understudy.cluster.supervise;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.shape.Shape.Limits;
import io.understudy.cluster.supervise.StateServer.StatePage;
import io.understudy.vocabulary.ElectionState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The JSON of a supervisor's state. */
final class StatePageTest {

    /** Readers need the time of the last observation to see that it is long ago. */
    @Test
    void whenTheNextLookIsDueFollowsFromThePage() throws Exception {
        JsonNode page = new JsonMapper()
                .readTree(StatePage.json(new SupervisorState(
                        "s",
                        new ElectionState.Active(),
                        Optional.empty(),
                        new Shape(3, 1, Set.of(), false, 1),
                        new Limits(
                                Duration.ofSeconds(30),
                                500,
                                Duration.ofSeconds(10),
                                Duration.ofMinutes(10),
                                Duration.ofMinutes(1),
                                12),
                        Optional.empty(),
                        Map.of(),
                        Optional.of(Instant.parse("2026-11-22T18:40:00Z")),
                        Duration.ofSeconds(61),
                        Optional.empty(),
                        List.of())));
        assertThat(page.path("lookedAt").asText()).isEqualTo("2026-11-22T18:40:00Z");
        assertThat(page.path("pace").asLong()).isEqualTo(61_000);
    }
}
