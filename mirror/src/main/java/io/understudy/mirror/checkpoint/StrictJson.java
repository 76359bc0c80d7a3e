package io.understudy.mirror.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.ClusterId;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * Strict reader of the JSON that mirrors store in clusters. All readers throw an {@link IllegalArgumentException} with
 * the cause, in words that follow "it is refused:".
 */
public final class StrictJson {

    private static final int MAX_SHOWN_BYTES = 300;

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private StrictJson() {}

    /** Returns an empty object. */
    public static ObjectNode object() {
        return JSON.createObjectNode();
    }

    public static ByteString encode(ObjectNode root) {
        return ByteString.copyFromUtf8(root.toString());
    }

    /** Parses a single JSON value. */
    public static JsonNode parse(ByteString stored) {
        try {
            return JSON.readTree(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(stored.asReadOnlyByteBuffer())
                    .toString());
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("not UTF-8", e);
        } catch (JsonProcessingException e) {
            throw new IllegalArgumentException("not JSON", e);
        }
    }

    public static void requireFormat(JsonNode root, int expected) {
        JsonNode format = root.path("format");
        if (!format.isInt() || format.intValue() != expected) {
            throw new IllegalArgumentException("format is "
                    + (format.isMissingNode() ? "missing" : format) + "; this build supports only format " + expected
                    + ". It was written by another version or another program");
        }
    }

    /**
     * Rejects an object without exactly the expected fields.
     *
     * @param what names the object
     */
    public static void requireFields(String what, JsonNode node, Set<String> expected) {
        Set<String> found = new HashSet<>();
        node.fieldNames().forEachRemaining(found::add);
        if (!node.isObject() || !found.equals(expected)) {
            throw new IllegalArgumentException(what + " must have exactly the fields "
                    + String.join(", ", expected.stream().sorted().toList()));
        }
    }

    public static String text(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isTextual()) {
            throw new IllegalArgumentException(field + " must be text, not " + value);
        }
        return value.textValue();
    }

    public static long number(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isIntegralNumber() || !value.canConvertToLong()) {
            throw new IllegalArgumentException(field + " must be a 64-bit integer, not " + value);
        }
        return value.longValue();
    }

    public static Instant instant(JsonNode node, String field) {
        String text = text(node, field);
        try {
            return Instant.parse(text);
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException(field + " \"" + text + "\" is not a timestamp", e);
        }
    }

    public static ClusterId clusterId(JsonNode node, String field) {
        return clusterId(field, text(node, field));
    }

    public static void put(ObjectNode node, String field, MirrorScope scope) {
        ObjectNode shape = node.putObject(field);
        hex(scope.include(), shape.putArray("include"));
        hex(scope.exclude(), shape.putArray("exclude"));
        shape.put("from", hex(scope.renameFrom())).put("to", hex(scope.renameTo()));
    }

    public static MirrorScope scope(JsonNode parent, String field) {
        JsonNode node = parent.path(field);
        requireFields(field, node, Set.of("include", "exclude", "from", "to"));
        return new MirrorScope(
                prefixes(node, "include"),
                prefixes(node, "exclude"),
                bytes("from", text(node, "from")),
                bytes("to", text(node, "to")));
    }

    /** Returns the stored bytes as text, truncated and with unprintable bytes escaped. */
    public static String shown(ByteString stored) {
        StringBuilder text = new StringBuilder().append(stored.size()).append(" bytes: ");
        for (int i = 0; i < Math.min(stored.size(), MAX_SHOWN_BYTES); i++) {
            int b = stored.byteAt(i) & 0xff;
            if (b >= 0x20 && b < 0x7f) {
                text.append((char) b);
            } else {
                text.append("\\x").append(HexFormat.of().toHexDigits((byte) b));
            }
        }
        return text.append(stored.size() > MAX_SHOWN_BYTES ? "…" : "").toString();
    }

    static ClusterId clusterId(String field, String text) {
        long id = Long.parseUnsignedLong(text, 16);
        if (!Long.toHexString(id).equals(text)) {
            throw new IllegalArgumentException(field + " \"" + text + "\" is not a cluster ID");
        }
        return new ClusterId(id);
    }

    static List<String> texts(JsonNode node, String field) {
        if (!node.isArray()) {
            throw new IllegalArgumentException(field + " must be a list, not " + node);
        }
        List<String> texts = new ArrayList<>(node.size());
        for (JsonNode each : node) {
            if (!each.isTextual()) {
                throw new IllegalArgumentException(field + " must be a list of strings, not " + node);
            }
            texts.add(each.textValue());
        }
        return texts;
    }

    private static List<ByteString> prefixes(JsonNode node, String field) {
        return texts(node.path(field), field).stream()
                .map(text -> bytes(field, text))
                .toList();
    }

    private static ByteString bytes(String field, String text) {
        ByteString bytes = ByteString.copyFrom(HexFormat.of().parseHex(text));
        if (!hex(bytes).equals(text)) {
            throw new IllegalArgumentException(field + " \"" + text + "\" is not in canonical form");
        }
        return bytes;
    }

    private static void hex(List<ByteString> prefixes, ArrayNode array) {
        prefixes.forEach(prefix -> array.add(hex(prefix)));
    }

    private static String hex(ByteString bytes) {
        return HexFormat.of().formatHex(bytes.toByteArray());
    }
}
