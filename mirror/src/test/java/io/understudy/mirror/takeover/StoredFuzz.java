package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.checkpoint.Marks;
import io.understudy.mirror.home.Home;

/** What a mirror finds where it stores something, of any bytes, is exactly what it would have written, or refused. */
public final class StoredFuzz {

    private StoredFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        ByteString stored = ByteString.copyFrom(input);
        try {
            Checkpoint read = CheckpointCodec.decode("a key", stored);
            if (!CheckpointCodec.decode("a key", CheckpointCodec.encode(read)).equals(read)) {
                throw new AssertionError("another checkpoint when it is read again");
            }
        } catch (CorruptCheckpointException e) {
            // Told with its key.
        }
        try {
            var unused = Marks.decode("a key", stored);
        } catch (CorruptCheckpointException e) {
            // Told with its key.
        }
        try {
            var unused = Home.decode("a key", stored);
        } catch (IllegalArgumentException e) {
            // Told with its key.
        }
        try {
            var unused = JournalCodec.decode("a key", stored);
        } catch (TakeOverException e) {
            // Told with its key.
        }
    }
}
