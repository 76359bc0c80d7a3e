package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keys of lost writes: counts all, holds the first, and stores all in a file if there are more. One thread. */
final class LostKeys {

    static final int HELD = 1_000;

    private final List<String> first = new ArrayList<>();
    private long count;
    private @Nullable Path file;
    private @Nullable BufferedWriter writer;

    static LostKeys of(List<ByteString> keys) {
        LostKeys lost = new LostKeys();
        keys.forEach(lost::add);
        return lost;
    }

    void add(ByteString key) {
        String shown = TakeOverReport.shown(key);
        count++;
        if (count <= HELD) {
            first.add(shown);
            return;
        }
        try {
            BufferedWriter all = writer;
            if (all == null) {
                Path created = Files.createTempFile("understudy-lost-keys-", ".txt");
                all = Files.newBufferedWriter(created);
                file = created;
                writer = all;
                for (String each : first) {
                    all.append(each).append('\n');
                }
            }
            all.append(shown).append('\n');
        } catch (IOException e) {
            throw notStored(e);
        }
    }

    private TakeOverException notStored(IOException e) {
        return new TakeOverException(
                "lost keys cannot be stored" + (file == null ? "" : " in " + file) + ": " + e.getMessage()
                        + ". Free space in java.io.tmpdir and run the command again",
                e);
    }

    /** How many there are, in words. */
    String shown() {
        return count == 0 ? TakeOverReport.NONE : count + " keys";
    }

    List<String> first() {
        return first;
    }

    /** Has all of them, and is complete; null if {@link #first} has all. To be called last. */
    @Nullable Path file() {
        try {
            if (writer != null) {
                writer.close();
            }
            return file;
        } catch (IOException e) {
            throw notStored(e);
        }
    }
}
