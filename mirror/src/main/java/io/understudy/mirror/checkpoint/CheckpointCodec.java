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
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.Position.Anchor;
import io.understudy.vocabulary.Revision;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checkpoints as stored: JSON that a person can read, beginning with its format version. Reading is strict: whatever
 * this build would not have written is refused, since a guess about a checkpoint is a guess about the data.
 *
 * <pre>{@code
 * {"format":1,"source":"cdf818194e3a8c32","scope":{"include":[],"exclude":[],"from":"","to":""},"revision":42,
 *  "anchor":{"revision":40,"digest":"00112233445566778899aabbccddeeff"},"epoch":3,
 *  "writer":"host/4711/5e0c0b1d","path":["cdf818194e3a8c32"],"at":"2026-01-31T12:00:00.123Z","state":"synced"}
 * }</pre>
 *
 * Cluster ids and prefixes are hexadecimal; {@code anchor} is null for none.
 */
public final class CheckpointCodec {

    /** Version of the records written and read. */
    public static final int FORMAT = 1;

    private static final Set<String> FIELDS =
            Set.of("format", "source", "scope", "revision", "anchor", "epoch", "writer", "path", "at", "state");
    private static final int MAX_SHOWN_BYTES = 300;

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private CheckpointCodec() {}

    public static ByteString encode(Checkpoint checkpoint) {
        ObjectNode root = JSON.createObjectNode();
        root.put("format", FORMAT);
        root.put("source", checkpoint.source().toString());
        MirrorScope scope = checkpoint.scope();
        ObjectNode shape = root.putObject("scope");
        hex(scope.include(), shape.putArray("include"));
        hex(scope.exclude(), shape.putArray("exclude"));
        shape.put("from", hex(scope.renameFrom())).put("to", hex(scope.renameTo()));
        root.put("revision", checkpoint.revision().value());
        Anchor anchor = checkpoint.anchor();
        if (anchor == null) {
            root.putNull("anchor");
        } else {
            root.putObject("anchor")
                    .put("revision", anchor.revision().value())
                    .put("digest", anchor.digest().toString());
        }
        root.put("epoch", checkpoint.epoch());
        root.put("writer", checkpoint.writer());
        Marks.write(checkpoint.path(), root);
        root.put("at", checkpoint.at().toString());
        root.put("state", checkpoint.state().word());
        return ByteString.copyFromUtf8(root.toString());
    }

    /**
     * Reads what {@link #encode} wrote.
     *
     * @param where what errors name: the key, or the topic and record
     * @throws CorruptCheckpointException anything is not as {@link #encode} writes it
     */
    public static Checkpoint decode(String where, ByteString stored) throws CorruptCheckpointException {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(stored.asReadOnlyByteBuffer())
                    .toString();
            return checkpoint(JSON.readTree(text));
        } catch (CharacterCodingException e) {
            throw new CorruptCheckpointException(where, "it is not UTF-8 text", shown(stored), e);
        } catch (JsonProcessingException e) {
            throw new CorruptCheckpointException(where, "it is not JSON", shown(stored), e);
        } catch (IllegalArgumentException e) {
            throw new CorruptCheckpointException(where, String.valueOf(e.getMessage()), shown(stored), e);
        }
    }

    private static Checkpoint checkpoint(JsonNode root) {
        requireFormat(root);
        requireFields("it", root, FIELDS);
        return new Checkpoint(
                Marks.clusterId("source", text(root, "source")),
                scope(root.path("scope")),
                new Revision(number(root, "revision")),
                anchor(root.path("anchor")),
                number(root, "epoch"),
                text(root, "writer"),
                Marks.read(root),
                at(text(root, "at")),
                state(text(root, "state")));
    }

    private static void requireFormat(JsonNode root) {
        JsonNode format = root.path("format");
        if (!format.isInt() || format.intValue() != FORMAT) {
            throw new IllegalArgumentException("its format is "
                    + (format.isMissingNode() ? "missing" : format) + ", this build reads format " + FORMAT
                    + " only; it was written by another version or by something else");
        }
    }

    private static void requireFields(String what, JsonNode node, Set<String> expected) {
        Set<String> found = new HashSet<>();
        node.fieldNames().forEachRemaining(found::add);
        if (!node.isObject() || !found.equals(expected)) {
            throw new IllegalArgumentException(what + " must have exactly the fields " + sorted(expected));
        }
    }

    private static String sorted(Set<String> words) {
        return String.join(", ", words.stream().sorted().toList());
    }

    private static @Nullable Anchor anchor(JsonNode node) {
        if (node.isNull()) {
            return null;
        }
        requireFields("anchor", node, Set.of("revision", "digest"));
        return new Anchor(new Revision(number(node, "revision")), CommitDigest.parse(text(node, "digest")));
    }

    private static CheckpointState state(String word) {
        for (CheckpointState state : CheckpointState.values()) {
            if (state.word().equals(word)) {
                return state;
            }
        }
        throw new IllegalArgumentException("state \"" + word + "\" is unknown; allowed are syncing, synced, torn");
    }

    private static MirrorScope scope(JsonNode node) {
        requireFields("scope", node, Set.of("include", "exclude", "from", "to"));
        return new MirrorScope(
                prefixes(node, "include"),
                prefixes(node, "exclude"),
                bytes("from", text(node, "from")),
                bytes("to", text(node, "to")));
    }

    private static List<ByteString> prefixes(JsonNode node, String field) {
        return texts(node.path(field), field).stream()
                .map(text -> bytes(field, text))
                .toList();
    }

    private static List<String> texts(JsonNode node, String field) {
        if (!node.isArray()) {
            throw new IllegalArgumentException(field + " must be a list, not " + node);
        }
        List<String> texts = new ArrayList<>();
        for (JsonNode each : node) {
            if (!each.isTextual()) {
                throw new IllegalArgumentException(field + " must be a list of texts, not " + node);
            }
            texts.add(each.textValue());
        }
        return texts;
    }

    private static Instant at(String text) {
        try {
            return Instant.parse(text);
        } catch (DateTimeParseException e) {
            throw new IllegalArgumentException("at \"" + text + "\" is not a time", e);
        }
    }

    private static ByteString bytes(String field, String text) {
        ByteString bytes = ByteString.copyFrom(HexFormat.of().parseHex(text));
        if (!hex(bytes).equals(text)) {
            throw new IllegalArgumentException(field + " \"" + text + "\" is not written as this build writes it");
        }
        return bytes;
    }

    private static String text(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isTextual()) {
            throw new IllegalArgumentException(field + " must be text, not " + value);
        }
        return value.textValue();
    }

    private static long number(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isIntegralNumber() || !value.canConvertToLong()) {
            throw new IllegalArgumentException(field + " must be a whole number of 64 bits, not " + value);
        }
        return value.longValue();
    }

    private static void hex(List<ByteString> prefixes, ArrayNode array) {
        prefixes.forEach(prefix -> array.add(hex(prefix)));
    }

    private static String hex(ByteString bytes) {
        return HexFormat.of().formatHex(bytes.toByteArray());
    }

    /** What was found, cut short, with anything unprintable visible. */
    static String shown(ByteString stored) {
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
}
