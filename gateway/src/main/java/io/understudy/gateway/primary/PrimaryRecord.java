package io.understudy.gateway.primary;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HexFormat;
import java.util.List;

/**
 * The record of a mirror's primary that mirrors store at both clusters. It has the fields that a gateway needs.
 *
 * @param primary named cluster
 * @param epoch increases with each move
 * @param phase of a move
 * @param endMarker revision of the former primary up to which the new one has all writes; 0 if unknown
 * @param closed whether the storing cluster rejects writes of clients
 * @param scope mirrored keys
 */
public record PrimaryRecord(ClusterId primary, long epoch, Phase phase, long endMarker, boolean closed, Scope scope) {

    private static final ByteString RESERVED = ByteString.copyFromUtf8("\0understudy/");
    private static final String SWITCHOVER = "switchover";
    private static final int HEXADECIMAL = 16;

    /** Phase of a move. */
    public enum Phase {
        STEADY,
        CLOSING,
        MOVED
    }

    /**
     * The mirrored keys.
     *
     * @param include prefixes; empty for all keys
     * @param exclude prefixes
     * @param renames whether keys have other names in the copy
     */
    public record Scope(List<ByteString> include, List<ByteString> exclude, boolean renames) {

        /** All keys. */
        public static final Scope ALL = new Scope(List.of(), List.of(), false);

        public Scope {
            include = List.copyOf(include);
            exclude = List.copyOf(exclude);
        }

        /** Whether both clusters have the same keys in the range. */
        public boolean covers(KeyRange range) {
            return !renames
                    && (include.isEmpty()
                            || include.stream().map(KeyRange::prefix).anyMatch(included -> included.covers(range)))
                    && exclude.stream().map(KeyRange::prefix).noneMatch(range::intersects);
        }

        private static Scope decode(JsonObject stored) {
            return new Scope(
                    prefixes(stored.getJsonArray("include")),
                    prefixes(stored.getJsonArray("exclude")),
                    !stored.getString("from").equals(stored.getString("to")));
        }

        private static List<ByteString> prefixes(JsonArray stored) {
            return stored.stream()
                    .map(each -> ByteString.copyFrom(HexFormat.of().parseHex((String) each)))
                    .toList();
        }
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
                    move.getJsonObject("closed") != null,
                    Scope.decode(root.getJsonObject("scope")));
        } catch (RuntimeException e) {
            throw new IllegalArgumentException("invalid primary record: " + e.getMessage(), e);
        }
    }
}
