package io.understudy.gateway.primary;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.ClusterId;
import io.vertx.core.json.JsonObject;

/**
 * The record of a mirror's primary that mirrors store at both clusters. It has the fields that a gateway needs.
 *
 * @param primary named cluster
 * @param epoch increases with each move
 * @param phase of a move
 * @param endMarker revision of the former primary up to which the new one has all writes; 0 if unknown
 * @param closed whether the storing cluster rejects writes of clients
 */
public record PrimaryRecord(ClusterId primary, long epoch, Phase phase, long endMarker, boolean closed) {

    private static final ByteString RESERVED = ByteString.copyFromUtf8("\0understudy/");
    private static final String SWITCHOVER = "switchover";
    private static final int HEXADECIMAL = 16;

    /** Phase of a move. */
    public enum Phase {
        STEADY,
        CLOSING,
        MOVED
    }

    /** Returns the key of a mirror's record. */
    public static ByteString key(String mirror) {
        return RESERVED.concat(ByteString.copyFromUtf8("home/" + mirror));
    }

    /** Whether the key is reserved by Understudy. Such keys differ between the clusters of a mirror. */
    public static boolean isReserved(ByteString key) {
        return key.startsWith(RESERVED);
    }

    /**
     * Reads a record.
     *
     * @throws IllegalArgumentException if it is not a record
     */
    public static PrimaryRecord decode(ByteString stored) {
        try {
            JsonObject root = new JsonObject(stored.toStringUtf8());
            JsonObject move = root.getJsonObject("move", new JsonObject());
            JsonObject operation = move.getJsonObject("operation");
            Phase phase =
                    switch (move.getString("phase", "steady")) {
                        case "steady" -> Phase.STEADY;
                        case "closing" -> Phase.CLOSING;
                        case "moved" -> Phase.MOVED;
                        default -> throw new IllegalArgumentException("unknown phase " + move.getString("phase"));
                    };
            boolean planned = operation != null && SWITCHOVER.equals(operation.getString("kind"));
            return new PrimaryRecord(
                    new ClusterId(Long.parseUnsignedLong(root.getString("home"), HEXADECIMAL)),
                    root.getLong("moves"),
                    phase,
                    planned ? move.getLong("endMarker", 0L) : 0,
                    move.getJsonObject("closed") != null);
        } catch (RuntimeException e) {
            throw new IllegalArgumentException("invalid primary record: " + e.getMessage(), e);
        }
    }
}
