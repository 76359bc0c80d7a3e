package io.understudy.mirror.takeover;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Permission;
import io.understudy.vocabulary.ClusterId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Journals as stored: JSON that a person can read. Reading is strict: what this build would not have written is refused,
 * since a step that is taken twice, or not at all, by mistake costs data.
 */
final class JournalCodec {

    private static final int FORMAT = 3;

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private JournalCodec() {}

    static ByteString encode(Journal journal) {
        ObjectNode root = JSON.createObjectNode()
                .put("format", FORMAT)
                .put("kind", word(journal.kind()))
                .put("state", word(journal.state()))
                .put("writer", journal.writer())
                .put("startedAt", journal.startedAt().toString())
                .put("source", journal.source().toString())
                .put("target", journal.target().toString())
                .put("freeze", journal.freeze().word())
                .put("alarmMember", Long.toHexString(journal.alarmMember()));
        ArrayNode withdrawn = root.putArray("withdrawn");
        journal.withdrawn().forEach(grant -> withdrawn
                .addObject()
                .put("role", grant.role())
                .put("key", hex(grant.key()))
                .put("end", hex(grant.end()))
                .put("type", word(grant.type())));
        ArrayNode done = root.putArray("done");
        journal.done().forEach(done::add);
        root.put("frozenAt", journal.frozenAt())
                .put("drainedAt", journal.drainedAt())
                .put("verifiedKeys", journal.verifiedKeys())
                .put("verifiedAt", journal.verifiedAt())
                .put("fencedAt", journal.fencedAt());
        Instant dataAt = journal.dataAt();
        root.put("dataAt", dataAt == null ? null : dataAt.toString());
        root.put("late", journal.late()).put("lost", journal.lost());
        return ByteString.copyFromUtf8(root.toString());
    }

    /**
     * Reads what {@link #encode} wrote.
     *
     * @param where what errors name
     * @throws TakeOverException it is anything else
     */
    static Journal decode(String where, ByteString stored) {
        try {
            JsonNode root = upgraded(JSON.readTree(stored.toStringUtf8()));
            Journal journal = journal(root);
            if (!JSON.readTree(encode(journal).toStringUtf8()).equals(root)) {
                throw new IllegalArgumentException("it is not as this build writes it");
            }
            return journal;
        } catch (JsonProcessingException | RuntimeException e) {
            throw new TakeOverException(
                    "the journal at " + where + " is refused: " + e.getMessage() + "; found "
                            + stored.toStringUtf8() + ". It was written by another version or by something else;"
                            + " delete it once you know how that hand-over ended",
                    e);
        }
    }

    /** One of the format before, in which nothing was told of these two. */
    private static JsonNode upgraded(JsonNode root) {
        if (root instanceof ObjectNode journal && journal.path("format").asInt() == FORMAT - 1) {
            journal.put("format", FORMAT).put("verifiedAt", 0).putNull("lost");
        }
        return root;
    }

    private static Journal journal(JsonNode root) {
        if (root.path("format").asInt() != FORMAT) {
            throw new IllegalArgumentException("its format is not " + FORMAT);
        }
        List<Grant> withdrawn = new ArrayList<>();
        for (JsonNode grant : root.path("withdrawn")) {
            withdrawn.add(new Grant(
                    text(grant, "role"),
                    bytes(text(grant, "key")),
                    bytes(text(grant, "end")),
                    choice(Permission.Type.class, text(grant, "type"))));
        }
        List<String> done = new ArrayList<>();
        root.path("done").forEach(step -> done.add(step.asText()));
        @Nullable String lost = root.path("lost").isNull() ? null : text(root, "lost");
        @Nullable Instant dataAt = root.path("dataAt").isNull() ? null : Instant.parse(text(root, "dataAt"));
        return new Journal(
                choice(Journal.Kind.class, text(root, "kind")),
                choice(Journal.State.class, text(root, "state")),
                text(root, "writer"),
                Instant.parse(text(root, "startedAt")),
                id(text(root, "source")),
                id(text(root, "target")),
                choice(FreezeMode.class, text(root, "freeze")),
                Long.parseUnsignedLong(text(root, "alarmMember"), 16),
                withdrawn,
                done,
                number(root, "frozenAt"),
                number(root, "drainedAt"),
                number(root, "verifiedKeys"),
                number(root, "verifiedAt"),
                number(root, "fencedAt"),
                dataAt,
                number(root, "late"),
                lost);
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    private static <E extends Enum<E>> E choice(Class<E> type, String word) {
        return Enum.valueOf(type, word.toUpperCase(Locale.ROOT));
    }

    private static ClusterId id(String text) {
        return new ClusterId(Long.parseUnsignedLong(text, 16));
    }

    private static String text(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isTextual()) {
            throw new IllegalArgumentException(field + " must be text");
        }
        return value.textValue();
    }

    private static long number(JsonNode node, String field) {
        JsonNode value = node.path(field);
        if (!value.isIntegralNumber() || !value.canConvertToLong()) {
            throw new IllegalArgumentException(field + " must be a whole number");
        }
        return value.longValue();
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFrom(HexFormat.of().parseHex(text));
    }

    private static String hex(ByteString bytes) {
        return HexFormat.of().formatHex(bytes.toByteArray());
    }
}
