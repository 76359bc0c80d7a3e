package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects the keys of lost writes. Counts all, holds the first, and stores all in a file. One thread. */
final class LostKeys {

    static final int HELD = 1_000;

    private final List<String> first = new ArrayList<>();
    private long count;
    private @Nullable Path file;
    private @Nullable BufferedWriter writer;
    private @Nullable IOException failure;

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
        if (failure != null) {
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
            failure = e;
        }
    }

    /**
     * Ends the list, before an effect after which it could not be made again.
     *
     * @throws TakeOverException not all keys could be stored
     */
    void requireStored() {
        close();
        if (failure != null) {
            throw new TakeOverException(
                    "lost keys " + notStored(failure) + ". Free space in java.io.tmpdir and run the command again",
                    failure);
        }
    }

    private void close() {
        try {
            if (writer != null) {
                writer.close();
            }
        } catch (IOException e) {
            failure = e;
        }
    }

    private String notStored(IOException why) {
        return "cannot be stored" + (file == null ? "" : " in " + file) + ": " + why.getMessage();
    }

    /** How many there are, in words, and why not all are stored. */
    String shown() {
        close();
        return count == 0
                ? TakeOverReport.NONE
                : count + " keys" + (failure == null ? "" : ", of which all but the first " + notStored(failure));
    }

    List<String> first() {
        return first;
    }

    /** Has all of them; null if {@link #first} has all, or they could not be stored. To be called last. */
    @Nullable Path file() {
        close();
        return failure == null ? file : null;
    }
}
