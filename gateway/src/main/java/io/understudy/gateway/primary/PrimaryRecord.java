package io.understudy.gateway.primary;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.ClusterId;
import io.vertx.core.json.JsonObject;

/**
 * What a cluster stores of a mirror's primary, as far as a gateway needs it. Mirrors write it.
 *
 * @param primary cluster that it names
 * @param epoch grows with each move
 * @param phase of a move
 * @param endMarker revision of the former primary up to which the new one has all writes; 0 if that is not certain
 * @param closed whether clients cannot write at the cluster that stores this
 */
public record PrimaryRecord(ClusterId primary, long epoch, Phase phase, long endMarker, boolean closed) {

    private static final ByteString RESERVED = ByteString.copyFromUtf8("\0understudy/");
    private static final String SWITCHOVER = "switchover";
    private static final int HEXADECIMAL = 16;

    /** How far a move is. */
    public enum Phase {
        STEADY,
        CLOSING,
        MOVED
    }

    /** Where a cluster stores the record of a mirror. */
    public static ByteString key(String mirror) {
        return RESERVED.concat(ByteString.copyFromUtf8("home/" + mirror));
    }

    /** Whether the key is one of Understudy's own, which differ between the clusters of a mirror. */
    public static boolean isReserved(ByteString key) {
        return key.startsWith(RESERVED);
    }

    /**
     * Reads a record.
     *
     * @throws IllegalArgumentException it is not such a record
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
