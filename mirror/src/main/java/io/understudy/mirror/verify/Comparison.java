package io.understudy.mirror.verify;

import com.google.protobuf.ByteString;
import io.understudy.feed.etcd.SnapshotReader.CompactedException;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.verify.Difference.Kind;
import io.understudy.mirror.verify.Merge.Equality;
import io.understudy.mirror.verify.Merge.SortedEntries;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Compares both sides, key by key, and reports. One thread. */
final class Comparison {

    private static final int KEYS_PER_REPORT = 1_000;

    private final MirrorScope scope;
    private final Equality equality;
    private final LongConsumer progress;
    private final long beganNanos = System.nanoTime();

    /** @param progress receives, periodically, the number of keys compared */
    Comparison(MirrorScope scope, Equality equality, LongConsumer progress) {
        this.scope = scope;
        this.equality = equality;
        this.progress = progress;
    }

    VerifyReport run(Revision sourceRevision, SortedEntries source, Revision targetRevision, SortedEntries target)
            throws CompactedException, IncomparableException, InterruptedException {
        SideDigest sourceDigest = new SideDigest(equality.leases());
        SideDigest targetDigest = new SideDigest(equality.leases());
        List<Difference> differences = new ArrayList<>();
        long keys = 0;
        long bytes = 0;
        long differing = 0;
        Merge merge = new Merge(source, target);
        for (Merge.@Nullable Pair key = merge.next(); key != null; key = merge.next()) {
            if (equality.isKept(key)) {
                continue;
            }
            keys++;
            add(key.source(), sourceDigest);
            add(key.target(), targetDigest);
            bytes += key.source() == null ? 0 : key.source().bytes();
            Kind kind = equality.difference(key);
            if (kind != null && differing++ < Verification.DIFFERENCES_KEPT) {
                differences.add(new Difference(kind, scope.atSource(key.key()), key.key()));
            }
            if (keys % KEYS_PER_REPORT == 0) {
                progress.accept(keys);
            }
        }
        progress.accept(keys);
        return new VerifyReport(
                sourceRevision,
                targetRevision,
                keys,
                bytes,
                sourceDigest.hex(),
                targetDigest.hex(),
                differing,
                differences,
                Duration.ofNanos(System.nanoTime() - beganNanos));
    }

    private static void add(@Nullable KeyValue entry, SideDigest digest) {
        if (entry != null) {
            digest.add(entry);
        }
    }

    /** A digest of one side's entries in key order: half of a SHA-256. */
    static final class SideDigest {

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
}
