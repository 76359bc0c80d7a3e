package io.understudy.mirror.checkpoint;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.FeedStart.UnfinishedSnapshot;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Position.Anchor;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The progress of one synchronisation lane, written to the target together with the lane's data. It exists only during
 * a synchronisation: a checkpoint {@code synced} replaces all of them.
 *
 * <p>A later writer resumes the snapshot at the rest that all lanes share. Tools that replace the checkpoint delete the
 * lanes' keys.
 *
 * @param epoch of the checkpoint it is written under
 * @param lane its number, from 0
 * @param last the key written last in the target, cut after {@link #SHOWN_KEY_BYTES} bytes; empty before the first
 * @param count increases with each transaction, so that the stored values of a lane differ
 * @param path as {@link Checkpoint#path}
 * @param terms mirror options under which the copied data is valid
 * @param snapshot at least the rest that all lanes together had to copy; null if it cannot be resumed
 * @param deletions approximate number of keys deleted by the commit that the snapshot replaces; 0 if it replaces none
 */
public record LaneProgress(
        long epoch,
        int lane,
        ByteString last,
        long count,
        List<ClusterId> path,
        String terms,
        @Nullable UnfinishedSnapshot snapshot,
        long deletions) {

    /** Length of the stored prefix of a key: keys may be as large as values. */
    public static final int SHOWN_KEY_BYTES = 128;

    /** Maximum bytes of keys in the rest of a snapshot; twice as many when stored. */
    private static final int MAX_REST_BYTES = 512;

    /** Version of the records written and read; 1 had no rest. */
    private static final int FORMAT = 2;

    /** Half the JSON overhead of a stored range. */
    private static final int RANGE_BYTES = 4;

    private static final JsonMapper JSON = new JsonMapper();

    public LaneProgress {
        path = List.copyOf(path);
        last = last.size() > SHOWN_KEY_BYTES ? last.substring(0, SHOWN_KEY_BYTES) : last;
    }

    /** Returns the progress of a lane before its first write. */
    public static LaneProgress first(
            Checkpoint checkpoint, int lane, String terms, @Nullable UnfinishedSnapshot snapshot, long deletions) {
        return new LaneProgress(
                checkpoint.epoch(), lane, ByteString.EMPTY, 0, checkpoint.path(), terms, snapshot, deletions);
    }

    /** Returns the progress after a transaction of {@code more} puts and deletes, the last of {@code key}. */
    public LaneProgress after(int more, ByteString key, @Nullable UnfinishedSnapshot left) {
        return new LaneProgress(epoch, lane, key, count + Math.max(1, more), path, terms, left, deletions);
    }

    /** Returns a progress of maximum encoded size for the same lane. */
    public LaneProgress largest() {
        Anchor anchor =
                new Anchor(new Revision(Long.MAX_VALUE), CommitDigest.parse("00".repeat(CommitDigest.SIZE_BYTES)));
        return new LaneProgress(
                epoch,
                lane,
                ByteString.copyFrom(new byte[SHOWN_KEY_BYTES]),
                Long.MAX_VALUE,
                path,
                terms,
                new UnfinishedSnapshot(
                        new Position(path.get(path.size() - 1), anchor.revision(), anchor),
                        List.of(KeyRange.fromKey(ByteString.copyFrom(new byte[MAX_REST_BYTES])))),
                Long.MAX_VALUE);
    }

    /** Whether the ranges are few and short enough to be stored. */
    public static boolean fits(List<KeyRange> rest) {
        return rest.stream().mapToInt(LaneProgress::bytes).sum() <= MAX_REST_BYTES;
    }

    private static int bytes(KeyRange range) {
        return RANGE_BYTES
                + range.from().size()
                + (range.to() == null ? 0 : range.to().size());
    }

    /**
     * Returns the stored rest of the snapshot that the lane helped to copy.
     *
     * @param terms mirror options that must match
     * @return empty if it cannot be resumed, or was written by a build that could not
     */
    public static Optional<UnfinishedSnapshot> decode(ByteString stored, ClusterId source, String terms) {
        try {
            JsonNode root = StrictJson.parse(stored);
            StrictJson.requireFormat(root, FORMAT);
            JsonNode anchor = root.path("anchor");
            if (anchor.isNull() || !StrictJson.text(root, "terms").equals(terms)) {
                return Optional.empty();
            }
            Position pin = new Position(
                    source,
                    new Revision(StrictJson.number(root, "revision")),
                    new Anchor(
                            new Revision(StrictJson.number(anchor, "revision")),
                            CommitDigest.parse(StrictJson.text(anchor, "digest"))));
            List<KeyRange> rest = new ArrayList<>();
            for (JsonNode range : root.path("rest")) {
                ByteString to = bytes(range.get(1));
                rest.add(new KeyRange(bytes(range.get(0)), to.isEmpty() ? null : to));
            }
            return Optional.of(new UnfinishedSnapshot(pin, rest));
        } catch (RuntimeException e) {
            return Optional.empty();
        }
    }

    /** Returns {@link #deletions} of what a lane stored; 0 if it stored none. */
    public static long deletions(ByteString stored) {
        try {
            return StrictJson.parse(stored).path("deletions").asLong();
        } catch (IllegalArgumentException e) {
            return 0;
        }
    }

    private static ByteString bytes(JsonNode hex) {
        return ByteString.copyFrom(HexFormat.of().parseHex(hex.textValue()));
    }

    /**
     * Returns the stored form: readable JSON with keys and cluster IDs in hexadecimal.
     *
     * <pre>{@code {"format":2,"epoch":3,"lane":2,"last":"2f612f6231","count":4200,"path":["cdf818194e3a8c32"],
     *  "terms":"FAIL","deletions":0,"revision":42,"anchor":{"revision":40,"digest":"00112233445566778899aabbccddeeff"},
     *  "rest":[["2f612f6232",""]]}}</pre>
     *
     * {@code anchor} is null if the snapshot cannot be resumed; an unbounded range has an empty end.
     */
    public ByteString encoded() {
        ObjectNode root = JSON.createObjectNode();
        root.put("format", FORMAT);
        root.put("epoch", epoch);
        root.put("lane", lane);
        root.put("last", hex(last));
        root.put("count", count);
        Marks.write(path, root);
        root.put("terms", terms);
        root.put("deletions", deletions);
        Anchor anchor = snapshot == null ? null : snapshot.pin().anchor();
        if (snapshot == null || anchor == null) {
            root.putNull("anchor");
        } else {
            root.put("revision", snapshot.pin().revision().value());
            root.putObject("anchor")
                    .put("revision", anchor.revision().value())
                    .put("digest", anchor.digest().toString());
            ArrayNode rest = root.putArray("rest");
            for (KeyRange range : snapshot.rest()) {
                ByteString to = range.to();
                rest.addArray().add(hex(range.from())).add(to == null ? "" : hex(to));
            }
        }
        return ByteString.copyFromUtf8(root.toString());
    }

    private static String hex(ByteString bytes) {
        return HexFormat.of().formatHex(bytes.toByteArray());
    }
}
