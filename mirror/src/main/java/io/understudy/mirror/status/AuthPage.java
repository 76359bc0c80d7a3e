package io.understudy.mirror.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.mirror.auth.AuthReport;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;

/** The copy of roles and users as JSON, and that in words. */
final class AuthPage {

    private static final JsonMapper JSON = new JsonMapper();

    private AuthPage() {}

    static ObjectNode json(AuthReport report) {
        ObjectNode node = JSON.createObjectNode();
        node.put(
                "comparedAt",
                report.comparedAt() == null ? null : report.comparedAt().toString());
        node.put("sourceEnabled", report.sourceEnabled());
        node.put("targetEnabled", report.targetEnabled());
        put(node, "roles", report.roles());
        put(node, "users", report.users());
        put(node, "withoutPassword", report.withoutPassword());
        put(node, "rolesLeftAlone", report.rolesLeftAlone());
        put(node, "usersLeftAlone", report.usersLeftAlone());
        node.put("held", report.held());
        node.put("problem", report.problem());
        return node;
    }

    /** The contents of {@link #json} as lines of text. */
    static List<String> lines(JsonNode auth) {
        List<String> lines = new ArrayList<>();
        if (!auth.isObject()) {
            return lines;
        }
        if (auth.path("comparedAt").isNull()) {
            lines.add("not compared yet by this process");
        } else {
            lines.add("compared at " + auth.path("comparedAt").asText() + "; authentication is "
                    + enabled(auth.path("sourceEnabled")) + " at the source, " + enabled(auth.path("targetEnabled"))
                    + " at the target");
            lines.add("roles copied: " + names(auth.path("roles")));
            lines.add("users copied: " + names(auth.path("users")));
            lines.add("users without a password: " + names(auth.path("withoutPassword")));
            lines.add("not overwritten (owned by the target): roles " + names(auth.path("rolesLeftAlone")) + "; users "
                    + names(auth.path("usersLeftAlone")));
        }
        if (!auth.path("held").isNull()) {
            lines.add("paused: " + auth.path("held").asText());
        }
        if (!auth.path("problem").isNull()) {
            lines.add("failed: " + auth.path("problem").asText());
        }
        return lines;
    }

    private static void put(ObjectNode node, String field, List<String> names) {
        ArrayNode array = node.putArray(field);
        names.forEach(array::add);
    }

    private static String enabled(JsonNode flag) {
        return flag.asBoolean() ? "enabled" : "disabled";
    }

    private static String names(JsonNode names) {
        return names.isEmpty()
                ? "-"
                : StreamSupport.stream(names.spliterator(), false)
                        .map(JsonNode::asText)
                        .collect(Collectors.joining(", "));
    }
}
