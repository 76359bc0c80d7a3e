package io.understudy.mirror.verify;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyValue;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/** A digest of one side's entries in key order: half of a SHA-256. */
final class SideDigest {

    private static final int SIZE_BYTES = 16;

    private final boolean leases;
    private final ByteBuffer fixed = ByteBuffer.allocate(9);
    private final MessageDigest sha;

    SideDigest(boolean leases) {
        this.leases = leases;
        try {
            this.sha = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is not available", e);
        }
    }

    void add(KeyValue entry) {
        boolean leased = leases && entry.lease() != 0;
        fixed.clear()
                .putInt(entry.key().size())
                .putInt(entry.value().size())
                .put((byte) (leased ? 1 : 0))
                .flip();
        sha.update(fixed);
        add(entry.key());
        add(entry.value());
    }

    private void add(ByteString bytes) {
        for (ByteBuffer part : bytes.asReadOnlyByteBufferList()) {
            sha.update(part);
        }
    }

    /** Returns the digest in hexadecimal and ends it. */
    String hex() {
        return HexFormat.of().formatHex(Arrays.copyOf(sha.digest(), SIZE_BYTES));
    }
}
