package io.understudy.mirror.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import io.understudy.vocabulary.ClusterId;
import java.util.ArrayList;
import java.util.List;

/**
 * What a mirror's transactions carry so that others, who mirror the target on, know where a commit has been: the field
 * {@code path} of the JSON object that each of them puts, as a checkpoint or for a lane. It holds ids of clusters, in
 * order.
 *
 * <p>Whatever else the object holds is not looked at: who mirrors on needs not know what the other version stores there.
 */
public final class Marks {

    private static final String FIELD = "path";

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private Marks() {}

    /** Adds the mark to what is stored. */
    public static void write(List<ClusterId> path, ObjectNode stored) {
        ArrayNode array = stored.putArray(FIELD);
        path.forEach(passed -> array.add(passed.toString()));
    }

    /**
     * The mark of what is stored.
     *
     * @throws IllegalArgumentException there is none, or not as {@link #write} writes it
     */
    public static List<ClusterId> read(JsonNode stored) {
        JsonNode array = stored.path(FIELD);
        if (!array.isArray()) {
            throw new IllegalArgumentException(FIELD + " must be a list, not " + array);
        }
        List<ClusterId> path = new ArrayList<>(array.size());
        for (JsonNode each : array) {
            if (!each.isTextual()) {
                throw new IllegalArgumentException(FIELD + " must be a list of texts, not " + array);
            }
            path.add(clusterId(FIELD, each.textValue()));
        }
        return path;
    }

    /**
     * The mark of the value that another mirror has put.
     *
     * @param where what errors name: key and revision
     * @throws CorruptCheckpointException there is none that can be understood
     */
    public static List<ClusterId> decode(String where, ByteString stored) throws CorruptCheckpointException {
        try {
            return read(JSON.readTree(stored.toStringUtf8()));
        } catch (JsonProcessingException e) {
            throw new CorruptCheckpointException(where, "it is not JSON", CheckpointCodec.shown(stored), e);
        } catch (IllegalArgumentException e) {
            throw new CorruptCheckpointException(
                    where, String.valueOf(e.getMessage()), CheckpointCodec.shown(stored), e);
        }
    }

    /** @throws IllegalArgumentException it is not the text of a cluster's id */
    static ClusterId clusterId(String field, String text) {
        long id = Long.parseUnsignedLong(text, 16);
        if (!Long.toHexString(id).equals(text)) {
            throw new IllegalArgumentException(field + " \"" + text + "\" is not a cluster id");
        }
        return new ClusterId(id);
    }
}
