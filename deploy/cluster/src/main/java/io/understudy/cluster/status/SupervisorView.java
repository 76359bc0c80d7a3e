package io.understudy.cluster.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.net.URI;
import java.util.Optional;

/**
 * A supervisor's status page, as far as a cluster's status needs it.
 *
 * @param state the page as JSON; empty without a response
 * @param failure why there is none
 */
public record SupervisorView(URI url, Optional<JsonNode> state, String failure) {

    public Optional<String> name() {
        return state.map(page -> page.path("supervisor").asText());
    }

    /** Whether it may change members, now or once it is elected. */
    public boolean mayAct() {
        return state.filter(page -> page.path("paused").isNull()).isPresent();
    }

    /** Returns the state in one line. */
    String text() {
        return state.map(page -> "supervisor " + page.path("supervisor").asText() + ", "
                        + page.path("standing").asText()
                        + (page.path("paused").isNull()
                                ? ""
                                : ", paused " + page.path("paused").asText())
                        + ": " + decision(page.path("decision")))
                .orElse(failure);
    }

    private static String decision(JsonNode decision) {
        String detail = decision.path("detail").asText();
        return decision.path("rule").asText("no decision yet") + ": "
                + decision.path("observed").asText() + "; "
                + decision.path("action").asText() + (detail.isEmpty() ? "" : " (" + detail + ")");
    }

    void fill(ObjectNode node) {
        node.put("url", url.toString());
        if (state.isEmpty()) {
            node.put("failure", failure);
            return;
        }
        JsonNode page = state.get();
        JsonNode decision = page.path("decision");
        node.put("name", page.path("supervisor").asText());
        node.put("standing", page.path("standing").asText());
        node.set("paused", page.path("paused"));
        node.putObject("decision")
                .put("rule", decision.path("rule").asText())
                .put("observed", decision.path("observed").asText())
                .put("action", decision.path("action").asText())
                .put("outcome", decision.path("outcome").asText())
                .put("detail", decision.path("detail").asText());
    }
}
