package io.understudy.mirror.verify;

import io.understudy.feed.etcd.SnapshotReader.CompactedException;
import io.understudy.mirror.verify.Difference.Kind;
import io.understudy.mirror.verify.NotComparable.Why;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Compares all of a target with its source, both at one revision of the source. Writes may go on: they change neither side
 * at the revisions that are read. Holds a few pages of either side in memory.
 */
public final class Verification {

    /** How many differing keys a report names. */
    public static final int DIFFERENCES_KEPT = 100;

    private static final int ATTEMPTS = 5;
    /** For a mirror that lags to move its checkpoint on. */
    private static final long PAUSE_MILLIS = 200;

    private static final int KEYS_PER_TELLING = 1_000;

    private final Sides sides;
    private final LongConsumer progress;
    private final long beganNanos = System.nanoTime();

    private Verification(Sides sides, LongConsumer progress) {
        this.sides = sides;
        this.progress = progress;
    }

    /**
     * Compares; takes as long as reading both sides does, and at most about half a minute longer where a side is away.
     *
     * @param progress told now and then how many keys have been compared; it begins again at 0 when a side was compacted
     * @throws InterruptedException the thread was interrupted; nothing is left under way
     */
    public static VerifyResult run(Sides sides, LongConsumer progress) throws InterruptedException {
        Verification verification = new Verification(sides, progress);
        try {
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                try {
                    return verification.compare(ConsistentPair.now(sides));
                } catch (CompactedException e) {
                    progress.accept(0);
                    TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
                }
            }
        } catch (IncomparableException e) {
            return e.result();
        }
        return new NotComparable(
                Why.COMPACTED,
                "source or target was compacted up to the present while it was read, " + ATTEMPTS + " times in a row");
    }

    private VerifyReport compare(ConsistentPair pair)
            throws CompactedException, IncomparableException, InterruptedException {
        SideDigest sourceDigest = new SideDigest(sides.leases());
        SideDigest targetDigest = new SideDigest(sides.leases());
        Equality equality = pair.equality();
        List<Difference> differences = new ArrayList<>();
        long keys = 0;
        long bytes = 0;
        long differing = 0;
        List<KeyRange> ranges = sides.scope().targetRanges();
        try (SideReader source = pair.source(ranges);
                SideReader target = pair.target(ranges)) {
            Merge merge = new Merge(source, target);
            for (Merge.@Nullable Pair key = merge.next(); key != null; key = merge.next()) {
                if (equality.isKept(key)) {
                    continue;
                }
                keys++;
                bytes += add(key.source(), sourceDigest) + add(key.target(), targetDigest);
                Kind kind = equality.difference(key);
                if (kind != null && differing++ < DIFFERENCES_KEPT) {
                    differences.add(new Difference(kind, sides.scope().atSource(key.key()), key.key()));
                }
                if (keys % KEYS_PER_TELLING == 0) {
                    progress.accept(keys);
                }
            }
        }
        progress.accept(keys);
        return new VerifyReport(
                pair.sourceRevision(),
                pair.targetRevision(),
                keys,
                bytes,
                sourceDigest.hex(),
                targetDigest.hex(),
                differing,
                differences,
                Duration.ofNanos(System.nanoTime() - beganNanos));
    }

    private static long add(@Nullable KeyValue entry, SideDigest digest) {
        if (entry == null) {
            return 0;
        }
        digest.add(entry);
        return entry.bytes();
    }
}
