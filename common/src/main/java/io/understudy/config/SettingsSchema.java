package io.understudy.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Writes a JSON schema of configuration files, by which editors complete and check keys. */
public final class SettingsSchema {

    private static final JsonMapper MAPPER = new JsonMapper();

    private SettingsSchema() {}

    /** The schema as JSON. Keys may be nested or dotted; of dotted keys only the first group is described. */
    public static String of(Collection<Setting<?>> settings, String title) {
        ObjectNode root = group();
        root.put("$schema", "http://json-schema.org/draft-07/schema#").put("title", title);
        for (Setting<?> row : new Schema(settings).settings()) {
            describe(root, row.key(), row);
            if (row.former() != null) {
                describe(root, row.former(), row);
            }
        }
        allowDotted(root);
        try {
            return MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(root) + "\n";
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void describe(ObjectNode root, String key, Setting<?> row) {
        ObjectNode node = root;
        String[] path = key.split("\\.", -1);
        for (int depth = 0; depth < path.length - 1; depth++) {
            node = path[depth].equals("*")
                    ? child(node.withObjectProperty("patternProperties"), "^" + Schema.NAME + "$")
                    : child(node.withObjectProperty("properties"), path[depth]);
        }
        describe(node.withObjectProperty("properties").putObject(path[path.length - 1]), row);
    }

    private static ObjectNode child(ObjectNode parent, String name) {
        return parent.has(name)
                ? (ObjectNode) parent.get(name)
                : parent.putObject(name).setAll(group());
    }

    private static ObjectNode group() {
        ObjectNode group = JsonNodeFactory.instance.objectNode();
        group.putArray("type").add("object").add("null");
        group.put("additionalProperties", false);
        return group;
    }

    /** Allows keys with dots that begin with a group. */
    private static void allowDotted(ObjectNode node) {
        List<String> groups = new ArrayList<>();
        for (JsonNode names : List.of(node.path("properties"), node.path("patternProperties"))) {
            names.properties().forEach(named -> {
                boolean isGroup = named.getValue().has("additionalProperties");
                if (isGroup || named.getValue().path("type").asText().equals("object")) {
                    groups.add(named.getKey().replaceAll("^\\^|\\$$", ""));
                }
                if (isGroup) {
                    allowDotted((ObjectNode) named.getValue());
                }
            });
        }
        if (!groups.isEmpty()) {
            node.withObjectProperty("patternProperties").putObject("^(" + String.join("|", groups) + ")\\.");
        }
    }

    private static <T> void describe(ObjectNode node, Setting<T> row) {
        node.put("description", row.doc() + " Allowed: " + row.allowed() + ".");
        row.defaultText()
                .ifPresent(text -> node.set(
                        "default",
                        row.type().equals(SettingType.BOOLEAN)
                                ? BooleanNode.valueOf(Boolean.parseBoolean(text))
                                : row.type().equals(SettingType.INTEGER)
                                        ? IntNode.valueOf(Integer.parseInt(text))
                                        : TextNode.valueOf(text)));
        if (row.type().equals(SettingType.BOOLEAN)) {
            node.put("type", "boolean");
        } else if (row.type().equals(SettingType.INTEGER)) {
            node.put("type", "integer");
            if (row.least() instanceof Integer least && row.most() instanceof Integer most) {
                node.put("minimum", least).put("maximum", most);
            }
        } else if (row.type().equals(SettingType.PROPERTIES)) {
            node.put("type", "object");
        } else if (!row.type().options().isEmpty()) {
            row.type().options().forEach(node.putArray("enum")::add);
        } else if (row.type().ofElements() != null) {
            node.putArray("type").add("array").add("string");
        } else {
            node.putArray("type").add("string").add("number");
        }
    }
}
