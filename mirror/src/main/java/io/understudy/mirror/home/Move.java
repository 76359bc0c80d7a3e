package io.understudy.mirror.home;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import io.understudy.mirror.checkpoint.StrictJson;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The part of a move of the primary role that a cluster stores.
 *
 * @param operation the command that changed it last; null for none
 * @param verifiedAt revision of the former primary at which both sides were compared in full; 0 for none
 * @param endMarker revision after which the former primary acknowledged no write to the range; 0 for none
 * @param closed how this cluster refuses client writes to the range; null if it does not
 * @param former how the mirror closes the former primary, which was lost, when it returns; null if it was not lost
 */
public record Move(
        Phase phase,
        @Nullable Operation operation,
        long verifiedAt,
        long endMarker,
        @Nullable Closed closed,
        @Nullable Way former) {

    /** No stored move. */
    public static final Move NONE = new Move(Phase.STEADY, null, 0, 0, null);

    private static final Set<String> FIELDS = Set.of("phase", "operation", "verifiedAt", "endMarker", "closed");
    private static final Set<String> FIELDS_WITH_FORMER =
            Set.of("phase", "operation", "verifiedAt", "endMarker", "closed", "former");

    /** Creates a move with a former primary that was not lost. */
    public Move(Phase phase, @Nullable Operation operation, long verifiedAt, long endMarker, @Nullable Closed closed) {
        this(phase, operation, verifiedAt, endMarker, closed, null);
    }

    /** The phase of a move. */
    public enum Phase {
        /** None is under way here. */
        STEADY,
        /** The primary is being closed, or is; until the role moves this can be undone. */
        CLOSING,
        /** The role has moved to this cluster. The rest of the move is left to do. */
        MOVED
    }

    /** A way to reject client writes to a range. */
    public enum Way {
        /** Revokes write permission in the range from all roles but the mirror's. */
        ROLES,
        /** A CORRUPT alarm, for the duration of the move; then as {@link #AUTH_ENABLE}. */
        CORRUPT_ALARM,
        /** Authentication is enabled, with users for the mirror alone. */
        AUTH_ENABLE,
        /** No rejection: writes may be lost, and are named. */
        NONE;

        /** Returns the configured, stored and displayed name. */
        public String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        static Way of(String word) {
            for (Way way : values()) {
                if (way.word().equals(word)) {
                    return way;
                }
            }
            throw new IllegalArgumentException("unknown way to close a cluster: " + word);
        }
    }

    /**
     * A command.
     *
     * @param id unique
     * @param process host and process ID
     */
    public record Operation(String id, String kind, String process, Instant startedAt) {}

    /**
     * The state that is required to open a cluster again.
     *
     * @param alarmMember member ID of the alarm; 0 for none
     * @param grants all permissions of each role that was changed, as they were before
     */
    public record Closed(Way way, long alarmMember, List<Grant> grants) {
        public Closed {
            grants = List.copyOf(grants);
        }
    }

    /**
     * A permission of a role.
     *
     * @param end as etcd writes the end of a range: empty for one key
     * @param type as etcd names it
     */
    public record Grant(String role, ByteString key, ByteString end, String type) {}

    public Move in(Phase next) {
        return new Move(next, operation, verifiedAt, endMarker, closed, former);
    }

    public Move by(@Nullable Operation next) {
        return new Move(phase, next, verifiedAt, endMarker, closed, former);
    }

    public Move closed(@Nullable Closed next) {
        return new Move(phase, operation, verifiedAt, endMarker, next, former);
    }

    public Move former(@Nullable Way next) {
        return new Move(phase, operation, verifiedAt, endMarker, closed, next);
    }

    ObjectNode json() {
        ObjectNode root = StrictJson.object();
        root.put("phase", phase.name().toLowerCase(Locale.ROOT));
        if (operation == null) {
            root.putNull("operation");
        } else {
            root.putObject("operation")
                    .put("id", operation.id())
                    .put("kind", operation.kind())
                    .put("process", operation.process())
                    .put("startedAt", operation.startedAt().toString());
        }
        root.put("verifiedAt", verifiedAt).put("endMarker", endMarker);
        if (closed == null) {
            root.putNull("closed");
        } else {
            ObjectNode node = root.putObject("closed");
            node.put("way", closed.way().word()).put("alarmMember", Long.toHexString(closed.alarmMember()));
            ArrayNode grants = node.putArray("grants");
            closed.grants().forEach(grant -> grants.addObject()
                    .put("role", grant.role())
                    .put("key", hex(grant.key()))
                    .put("end", hex(grant.end()))
                    .put("type", grant.type()));
        }
        if (former != null) {
            root.put("former", former.word());
        }
        return root;
    }

    static Move decode(JsonNode root) {
        boolean hasFormer = root.has("former");
        StrictJson.requireFields("move", root, hasFormer ? FIELDS_WITH_FORMER : FIELDS);
        JsonNode operation = root.path("operation");
        JsonNode closed = root.path("closed");
        List<Grant> grants = new ArrayList<>();
        for (JsonNode grant : closed.path("grants")) {
            grants.add(new Grant(
                    StrictJson.text(grant, "role"),
                    bytes(StrictJson.text(grant, "key")),
                    bytes(StrictJson.text(grant, "end")),
                    StrictJson.text(grant, "type")));
        }
        return new Move(
                Phase.valueOf(StrictJson.text(root, "phase").toUpperCase(Locale.ROOT)),
                operation.isNull()
                        ? null
                        : new Operation(
                                StrictJson.text(operation, "id"),
                                StrictJson.text(operation, "kind"),
                                StrictJson.text(operation, "process"),
                                StrictJson.instant(operation, "startedAt")),
                StrictJson.number(root, "verifiedAt"),
                StrictJson.number(root, "endMarker"),
                closed.isNull()
                        ? null
                        : new Closed(
                                Way.of(StrictJson.text(closed, "way")),
                                Long.parseUnsignedLong(StrictJson.text(closed, "alarmMember"), 16),
                                grants),
                hasFormer ? Way.of(StrictJson.text(root, "former")) : null);
    }

    private static ByteString bytes(String text) {
        return ByteString.copyFrom(HexFormat.of().parseHex(text));
    }

    private static String hex(ByteString bytes) {
        return HexFormat.of().formatHex(bytes.toByteArray());
    }
}
