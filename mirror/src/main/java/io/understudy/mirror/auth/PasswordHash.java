package io.understudy.mirror.auth;

import com.google.protobuf.ByteString;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** A bcrypt hash of a password, which is never shown. */
final class PasswordHash {

    /** The format of etcd's library: a cost from 4 to 31, then salt and hash. */
    private static final Pattern BCRYPT = Pattern.compile("\\$2[aby]\\$(0[4-9]|[12][0-9]|3[01])\\$[./A-Za-z0-9]{53}");

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
        return ByteString.copyFromUtf8(Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII)));
    }

    /** Identifies the hash without revealing the password: the hash is salted. */
    String digest() {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.US_ASCII)));
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
