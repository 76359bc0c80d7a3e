package io.understudy.mirror.auth;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A file of users and their password hashes, as {@code htpasswd -B} writes it. A line is {@code NAME:HASH}; empty lines
 * and those that begin with {@code #} are ignored. Errors name the line, never its content.
 */
public final class PasswordFile {

    private PasswordFile() {}

    /**
     * Finds out whether it can be used.
     *
     * @throws IllegalArgumentException it can't; the message names the file, and the line if one is at fault
     */
    public static void require(Path file) {
        var unused = read(file);
    }

    /** Hashes by user; refuses as {@link #require} does. */
    static Map<String, PasswordHash> read(Path file) {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("file " + file + " is not UTF-8", e);
        } catch (IOException e) {
            throw new IllegalArgumentException("cannot read file " + file + ": " + e, e);
        }
        Map<String, PasswordHash> hashes = new HashMap<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i).strip();
            if (!line.isEmpty() && !line.startsWith("#")) {
                try {
                    add(line, hashes);
                } catch (IllegalArgumentException e) {
                    throw new IllegalArgumentException("file " + file + " line " + (i + 1) + ": " + e.getMessage(), e);
                }
            }
        }
        return Map.copyOf(hashes);
    }

    private static void add(String line, Map<String, PasswordHash> hashes) {
        // A name may hold a colon, a hash doesn't.
        int colon = line.lastIndexOf(':');
        if (colon <= 0) {
            throw new IllegalArgumentException("expected NAME:HASH, with a bcrypt hash");
        }
        if (hashes.put(line.substring(0, colon), PasswordHash.of(line.substring(colon + 1))) != null) {
            throw new IllegalArgumentException("duplicate user name");
        }
    }
}
