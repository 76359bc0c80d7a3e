package io.understudy.local.process;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The output of a server.
 *
 * @param file its file; may not exist yet
 */
public record ServerLog(Path file) {

    private static final int TAIL_BYTES = 64 * 1024;

    /** Its size in bytes, 0 if there is no log yet. */
    public long size() {
        return file.toFile().length();
    }

    /** Returns the last lines, oldest first, at most 64 KiB of them. Empty if there is no log yet. */
    public List<String> tail(int lines) {
        List<String> all = from(Math.max(0, size() - TAIL_BYTES)).lines().toList();
        return all.subList(Math.max(0, all.size() - lines), all.size());
    }

    /** Output since the log had that size. */
    public String from(long offset) {
        if (!Files.exists(file)) {
            return "";
        }
        try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "r")) {
            log.seek(offset);
            byte[] bytes = new byte[(int) Math.max(0, log.length() - offset)];
            log.readFully(bytes);
            return new String(bytes, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file, e);
        }
    }
}
