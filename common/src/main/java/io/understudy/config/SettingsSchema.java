package io.understudy.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Collection;

/** Writes a JSON schema of configuration files, by which editors complete and check keys. */
public final class SettingsSchema {

    private static final JsonMapper MAPPER = new JsonMapper();

    private SettingsSchema() {}

    /** The schema as JSON. Keys may be nested or dotted; values of dotted keys are not described. */
    public static String of(Collection<Setting<?>> settings, String title) {
        ObjectNode root = group();
        root.put("$schema", "http://json-schema.org/draft-07/schema#").put("title", title);
        for (Setting<?> row : new Schema(settings).settings()) {
            describe(root, row.key(), row);
            if (row.former() != null) {
                describe(root, row.former(), row);
            }
        }
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
        group.putObject("patternProperties").putObject("\\.");
        return group;
    }

    private static <T> void describe(ObjectNode node, Setting<T> row) {
        node.put("description", row.doc() + " Allowed: " + row.allowed() + ".");
        row.defaultText().ifPresent(text -> node.put("default", text));
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
        } else if (row.type().list()) {
            node.putArray("type").add("array").add("string");
        } else {
            node.putArray("type").add("string").add("number");
        }
    }
}
