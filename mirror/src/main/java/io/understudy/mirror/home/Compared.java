package io.understudy.mirror.home;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import io.understudy.mirror.checkpoint.StrictJson;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * That both clusters were equal when the home was moved back to the source, as a failback leaves it in the target beside the
 * checkpoint: of what the target held then, the source has deleted what it lacks now. A source that is restored from an older
 * backup lacks more than that, but its own record of the home is another one: none has the same number of moves and the same
 * time.
 *
 * <pre>{@code
 * {"format":1,"revision":42,"targetRevision":17,"moves":2,"at":"2026-01-31T12:00:00.123Z"}
 * }</pre>
 *
 * @param revision of the source, and of the checkpoint
 * @param targetRevision of the target: all that it held then was in the source
 * @param moves of the home as the source knew it
 * @param at likewise
 */
public record Compared(Revision revision, Revision targetRevision, long moves, Instant at) {

    private static final int FORMAT = 1;

    private static final Set<String> FIELDS = Set.of("format", "revision", "targetRevision", "moves", "at");

    /** @param home as the source knows it once it has moved back */
    public Compared(Revision revision, Revision targetRevision, Home home) {
        this(revision, targetRevision, home.moves(), home.at());
    }

    /**
     * Whether a synchronisation from a checkpoint's revision begins with that.
     *
     * @param home as the source knows it, before it is told anything; null for nothing
     */
    public boolean isAt(Revision checkpoint, @Nullable Home home) {
        return home != null && new Compared(checkpoint, targetRevision, home).equals(this);
    }

    /** As stored. */
    public ByteString encode() {
        ObjectNode root = StrictJson.object();
        root.put("format", FORMAT);
        root.put("revision", revision.value());
        root.put("targetRevision", targetRevision.value());
        root.put("moves", moves);
        root.put("at", at.toString());
        return StrictJson.encode(root);
    }

    /** Reads what {@link #encode} wrote; empty for anything else, since without it more is asked and nothing is lost. */
    public static Optional<Compared> decode(ByteString stored) {
        try {
            JsonNode root = StrictJson.parse(stored);
            StrictJson.requireFormat(root, FORMAT);
            StrictJson.requireFields("it", root, FIELDS);
            return Optional.of(new Compared(
                    new Revision(StrictJson.number(root, "revision")),
                    new Revision(StrictJson.number(root, "targetRevision")),
                    StrictJson.number(root, "moves"),
                    StrictJson.instant(root, "at")));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
