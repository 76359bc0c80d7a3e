package io.understudy.mirror.verify;

import io.understudy.feed.etcd.SnapshotReader.CompactedException;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.verify.Difference.Kind;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
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
}
