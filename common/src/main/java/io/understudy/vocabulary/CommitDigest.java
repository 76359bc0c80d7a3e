package io.understudy.vocabulary;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A fingerprint of one commit: revision, and each change in order with all it carries. Two histories that share a
 * cluster id but differ in the commit at a revision differ in its digest.
 *
 * <p>Computed on first use, which is rare: of many commits a consumer stores the position after the last alone. Until
 * then it holds its commit. Any thread.
 */
public final class CommitDigest {

    /** Bytes in a digest. */
    public static final int SIZE_BYTES = 16;

    /** Null once the bytes are known. */
    private volatile @Nullable Commit commit;

    private volatile @Nullable ByteString bytes;

    private CommitDigest(Commit commit) {
        this.commit = commit;
    }

    /** @param bytes as another digest's {@link #bytes} */
    public CommitDigest(ByteString bytes) {
        if (bytes.size() != SIZE_BYTES) {
            throw new IllegalArgumentException("commit digest must be " + SIZE_BYTES + " bytes, is " + bytes.size());
        }
        this.bytes = bytes;
    }

    public static CommitDigest of(Commit commit) {
        return new CommitDigest(commit);
    }

    /** Reads what {@link #toString} wrote. */
    public static CommitDigest parse(String hex) {
        return new CommitDigest(ByteString.copyFrom(HexFormat.of().parseHex(hex)));
    }

    /** The first 16 bytes of a SHA-256. */
    public ByteString bytes() {
        // Read before the bytes: their computation releases the commit afterwards.
        Commit of = commit;
        ByteString known = bytes;
        if (known == null) {
            known = digest(Objects.requireNonNull(of));
            bytes = known;
            commit = null;
        }
        return known;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CommitDigest digest && bytes().equals(digest.bytes());
    }

    @Override
    public int hashCode() {
        return bytes().hashCode();
    }

    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes().toByteArray());
    }

    private static ByteString digest(Commit commit) {
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
        return ByteString.copyFrom(sha.digest(), 0, SIZE_BYTES);
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
            throw new IllegalStateException("SHA-256 is not available", e);
        }
    }
}
