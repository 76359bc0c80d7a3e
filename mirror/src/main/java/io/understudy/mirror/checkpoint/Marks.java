package io.understudy.mirror.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import io.understudy.vocabulary.ClusterId;
import java.util.List;

/**
 * Marks of a mirror's transactions: the clusters a commit has passed. A mark is the field {@code path} of the JSON
 * object that each transaction puts, as a checkpoint or for a lane. It holds cluster IDs in order, for mirrors of the
 * target.
 *
 * <p>Other fields of the object are ignored: the mirror of another version may store more.
 */
public final class Marks {

    private static final String FIELD = "path";

    private Marks() {}

    /** Adds the mark to the stored object. */
    public static void write(List<ClusterId> path, ObjectNode stored) {
        ArrayNode array = stored.putArray(FIELD);
        path.forEach(passed -> array.add(passed.toString()));
    }

    /**
     * Returns the mark of the stored object.
     *
     * @throws IllegalArgumentException the mark is missing, or not in the form of {@link #write}
     */
    public static List<ClusterId> read(JsonNode stored) {
        return StrictJson.texts(stored.path(FIELD), FIELD).stream()
                .map(text -> StrictJson.clusterId(FIELD, text))
                .toList();
    }

    /**
     * Returns the mark in a value put by another mirror.
     *
     * @param where key and revision, for errors
     * @throws CorruptCheckpointException the mark is missing or invalid
     */
    public static List<ClusterId> decode(String where, ByteString stored) throws CorruptCheckpointException {
        try {
            return read(StrictJson.parse(stored));
        } catch (IllegalArgumentException e) {
            throw new CorruptCheckpointException(where, String.valueOf(e.getMessage()), StrictJson.shown(stored), e);
        }
    }
}
