package io.understudy.mirror.checkpoint;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import io.understudy.vocabulary.ClusterId;
import java.util.HexFormat;
import java.util.List;

/**
 * How far one lane of a synchronisation has come, written to the target together with what it writes. There only while
 * a synchronisation is under way: a checkpoint {@code synced} takes the place of all of them.
 *
 * @param epoch of the checkpoint it is written under
 * @param lane its number, from 0
 * @param last the key written last in the target, cut after {@link #SHOWN_KEY_BYTES} bytes; empty before the first
 * @param count puts and deletes written so far, so that no two transactions of a lane store the same
 * @param path as {@link Checkpoint#path}
 */
public record LaneProgress(long epoch, int lane, ByteString last, long count, List<ClusterId> path) {

    /** Keys may be as large as values; this much tells where a lane is. */
    public static final int SHOWN_KEY_BYTES = 128;

    /** Version of the records written. */
    private static final int FORMAT = 1;

    private static final JsonMapper JSON = new JsonMapper();

    public LaneProgress {
        path = List.copyOf(path);
        last = last.size() > SHOWN_KEY_BYTES ? last.substring(0, SHOWN_KEY_BYTES) : last;
    }

    /** Of a lane that hasn't written anything. */
    public static LaneProgress first(Checkpoint checkpoint, int lane) {
        return new LaneProgress(checkpoint.epoch(), lane, ByteString.EMPTY, 0, checkpoint.path());
    }

    /** After {@code more} puts and deletes, the last of them of {@code key}. */
    public LaneProgress after(int more, ByteString key) {
        return new LaneProgress(epoch, lane, key, count + more, path);
    }

    /**
     * As stored: JSON that a person can read, keys and cluster ids in hexadecimal.
     *
     * <pre>{@code {"format":1,"epoch":3,"lane":2,"last":"2f612f6231","count":4200,"path":["cdf818194e3a8c32"]}}</pre>
     */
    public ByteString encoded() {
        ObjectNode root = JSON.createObjectNode();
        root.put("format", FORMAT);
        root.put("epoch", epoch);
        root.put("lane", lane);
        root.put("last", HexFormat.of().formatHex(last.toByteArray()));
        root.put("count", count);
        Marks.write(path, root);
        return ByteString.copyFromUtf8(root.toString());
    }
}
