package io.understudy.vocabulary;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A fingerprint of one commit: revision, and each change in order with all it carries. Two histories that share a
 * cluster id but differ in the commit at a revision differ in its digest.
 *
 * @param bytes the first 16 bytes of a SHA-256
 */
public record CommitDigest(ByteString bytes) {

    /** Bytes in a digest. */
    public static final int SIZE_BYTES = 16;

    public CommitDigest {
        if (bytes.size() != SIZE_BYTES) {
            throw new IllegalArgumentException("a commit digest has " + SIZE_BYTES + " bytes, not " + bytes.size());
        }
    }

    public static CommitDigest of(Commit commit) {
        MessageDigest sha = sha256();
        ByteBuffer fixed = ByteBuffer.allocate(64);
        sha.update(fixed.putLong(commit.revision().value())
                .putInt(commit.changes().size())
                .flip());
        for (Change change : commit.changes()) {
            fixed.clear().putInt(change.key().size());
            if (change instanceof Change.Put put) {
                KeyValue kv = put.keyValue();
                fixed.put((byte) 1)
                        .putLong(kv.createRevision().value())
                        .putLong(kv.version())
                        .putLong(kv.lease())
                        .putInt(kv.value().size());
                sha.update(fixed.flip());
                update(sha, kv.key());
                update(sha, kv.value());
            } else {
                fixed.put((byte) 0);
                sha.update(fixed.flip());
                update(sha, change.key());
            }
        }
        return new CommitDigest(ByteString.copyFrom(sha.digest(), 0, SIZE_BYTES));
    }

    /** Reads what {@link #toString} wrote. */
    public static CommitDigest parse(String hex) {
        return new CommitDigest(ByteString.copyFrom(HexFormat.of().parseHex(hex)));
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes.toByteArray());
    }

    private static void update(MessageDigest sha, ByteString bytes) {
        for (ByteBuffer part : bytes.asReadOnlyByteBufferList()) {
            sha.update(part);
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
