package io.understudy.mirror.verify;

import io.understudy.feed.etcd.SnapshotReader.CompactedException;
import io.understudy.mirror.verify.NotComparable.Why;
import io.understudy.vocabulary.KeyRange;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/**
 * Compares all of a target with its source, both at one revision of the source. Writes may continue: they change
 * neither side at the revisions that are read. Holds a few pages of either side in memory.
 *
 * <p>Invariant M31: a comparison reports every difference and no other, however many writes happen meanwhile.
 */
public final class Verification {

    /** Maximum differing keys in a report. */
    public static final int DIFFERENCES_KEPT = 100;

    static final int ATTEMPTS = 5;
    /** Pause in which a lagging mirror can advance its checkpoint. */
    private static final long PAUSE_MILLIS = 200;

    private final Sides sides;
    private final LongConsumer progress;

    private Verification(Sides sides, LongConsumer progress) {
        this.sides = sides;
        this.progress = progress;
    }

    /**
     * Compares both sides. Takes as long as reading them, and at most about half a minute longer if one is unreachable.
     *
     * @param progress receives, periodically, the number of keys compared; it restarts at 0 when a side was compacted
     * @throws InterruptedException the thread was interrupted; nothing is left under way
     */
    public static VerifyResult run(Sides sides, LongConsumer progress) throws InterruptedException {
        Verification verification = new Verification(sides, progress);
        return repeated(
                () -> verification.compare(ConsistentPair.now(sides)),
                progress,
                "source or target was compacted to its current revision during the read, " + ATTEMPTS
                        + " times in a row");
    }

    /** A comparison at one moment, which may be compacted meanwhile. */
    interface Attempt {
        VerifyReport run() throws CompactedException, IncomparableException, InterruptedException;
    }

    /** @param compacted the reason to report when each attempt ended in a compaction */
    static VerifyResult repeated(Attempt attempt, LongConsumer progress, String compacted) throws InterruptedException {
        try {
            for (int i = 0; i < ATTEMPTS; i++) {
                try {
                    return attempt.run();
                } catch (CompactedException e) {
                    progress.accept(0);
                    TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
                }
            }
        } catch (IncomparableException e) {
            return e.result();
        }
        return new NotComparable(Why.COMPACTED, compacted);
    }

    private VerifyReport compare(ConsistentPair pair)
            throws CompactedException, IncomparableException, InterruptedException {
        List<KeyRange> ranges = sides.scope().targetRanges();
        try (SideReader source = pair.source(ranges);
                SideReader target = pair.target(ranges)) {
            return new Comparison(sides.scope(), pair.equality(), progress)
                    .run(pair.sourceRevision(), source, pair.targetRevision(), target);
        }
    }
}
