package io.understudy.cluster.snapshot;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/** The SHA-256 of a database, which its member appends when it sends a snapshot. */
final class Digest {

    private static final int BYTES = 32;
    /** Unit of a database's size. */
    private static final int PAGE_BYTES = 512;

    private Digest() {}

    /**
     * Verifies the digest of a whole file.
     *
     * @throws SnapshotException the file is truncated or damaged
     * @throws IOException the file cannot be read
     */
    static void require(Path file) throws IOException {
        long size = Files.size(file);
        if (size <= BYTES || size % PAGE_BYTES != BYTES) {
            throw new SnapshotException(
                    "snapshot " + file + " has " + size + " bytes: it is truncated, or has no digest", null);
        }
        try (InputStream in = Files.newInputStream(file)) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            byte[] buffer = new byte[1 << 16];
            for (long left = size - BYTES; left > 0; ) {
                int read = in.readNBytes(buffer, 0, (int) Math.min(left, buffer.length));
                digest.update(buffer, 0, read);
                left -= read;
            }
            if (!Arrays.equals(digest.digest(), in.readAllBytes())) {
                throw new SnapshotException("snapshot " + file + " is damaged: digest mismatch", null);
            }
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is not available", e);
        }
    }
}
