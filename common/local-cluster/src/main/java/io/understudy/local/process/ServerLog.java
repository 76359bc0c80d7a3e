package io.understudy.local.process;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What a server printed.
 *
 * @param file the file it is in; may not exist yet
 */
public record ServerLog(Path file) {

    private static final int TAIL_BYTES = 64 * 1024;

    /** The last lines, oldest first, at most 64 KiB of them; empty if there is no log yet. */
    public List<String> tail(int lines) {
        if (!Files.exists(file)) {
            return List.of();
        }
        try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "r")) {
            long start = Math.max(0, log.length() - TAIL_BYTES);
            log.seek(start);
            byte[] bytes = new byte[(int) (log.length() - start)];
            log.readFully(bytes);
            List<String> all = new String(bytes, StandardCharsets.UTF_8).lines().toList();
            return all.subList(Math.max(0, all.size() - lines), all.size());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + file, e);
        }
    }
}
