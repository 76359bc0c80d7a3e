package io.understudy.mirror.auth;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

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

    /** A bcrypt hash of a password, which is never shown. */
    static final class PasswordHash {

        /** The format of etcd's library: a cost from 4 to 31, then salt and hash. */
        private static final Pattern BCRYPT =
                Pattern.compile("\\$2[aby]\\$(0[4-9]|[12][0-9]|3[01])\\$[./A-Za-z0-9]{53}");

        private final String text;

        private PasswordHash(String text) {
            this.text = text;
        }

        /** @throws IllegalArgumentException not a bcrypt hash; the message omits the text */
        static PasswordHash of(String text) {
            if (!BCRYPT.matcher(text).matches()) {
                throw new IllegalArgumentException("invalid bcrypt hash; expected $2a$, $2b$ or"
                        + " $2y$, a cost from 04 to 31, $, and 53 characters");
            }
            return new PasswordHash(text);
        }

        /** Returns the hash as etcd's API takes it. */
        ByteString base64() {
            return ByteString.copyFromUtf8(
                    Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII)));
        }

        /** Identifies the hash without revealing the password: the hash is salted. */
        String digest() {
            try {
                return HexFormat.of()
                        .formatHex(
                                MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.US_ASCII)));
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("SHA-256 is not available", e);
            }
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof PasswordHash hash && hash.text.equals(text);
        }

        @Override
        public int hashCode() {
            return text.hashCode();
        }

        @Override
        public String toString() {
            return "<hash>";
        }
    }
}
