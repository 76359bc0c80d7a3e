package io.understudy.mirror.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.Position.Anchor;
import io.understudy.vocabulary.Revision;
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
 *
 * <p>Invariant M25: a stored value that is no valid checkpoint is rejected, with its location and content.
 */
public final class CheckpointCodec {

    /** Version of the records written and read. */
    public static final int FORMAT = 1;

    private static final Set<String> FIELDS =
            Set.of("format", "source", "scope", "revision", "anchor", "epoch", "writer", "path", "at", "state");

    private CheckpointCodec() {}

    public static ByteString encode(Checkpoint checkpoint) {
        ObjectNode root = StrictJson.object();
        root.put("format", FORMAT);
        root.put("source", checkpoint.source().toString());
        StrictJson.put(root, "scope", checkpoint.scope());
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
        return StrictJson.encode(root);
    }

    /**
     * Reads what {@link #encode} wrote.
     *
     * @param where what errors name: the key, or the topic and record
     * @throws CorruptCheckpointException anything is not as {@link #encode} writes it
     */
    public static Checkpoint decode(String where, ByteString stored) throws CorruptCheckpointException {
        try {
            return checkpoint(StrictJson.parse(stored));
        } catch (IllegalArgumentException e) {
            throw new CorruptCheckpointException(where, String.valueOf(e.getMessage()), StrictJson.shown(stored), e);
        }
    }

    private static Checkpoint checkpoint(JsonNode root) {
        StrictJson.requireFormat(root, FORMAT);
        StrictJson.requireFields("it", root, FIELDS);
        return new Checkpoint(
                StrictJson.clusterId(root, "source"),
                StrictJson.scope(root, "scope"),
                new Revision(StrictJson.number(root, "revision")),
                anchor(root.path("anchor")),
                StrictJson.number(root, "epoch"),
                StrictJson.text(root, "writer"),
                Marks.read(root),
                StrictJson.instant(root, "at"),
                state(StrictJson.text(root, "state")));
    }

    private static @Nullable Anchor anchor(JsonNode node) {
        if (node.isNull()) {
            return null;
        }
        StrictJson.requireFields("anchor", node, Set.of("revision", "digest"));
        return new Anchor(
                new Revision(StrictJson.number(node, "revision")), CommitDigest.parse(StrictJson.text(node, "digest")));
    }

    private static CheckpointState state(String word) {
        for (CheckpointState state : CheckpointState.values()) {
            if (state.word().equals(word)) {
                return state;
            }
        }
        throw new IllegalArgumentException("unknown state \"" + word + "\"; allowed: syncing, synced, torn");
    }
}
