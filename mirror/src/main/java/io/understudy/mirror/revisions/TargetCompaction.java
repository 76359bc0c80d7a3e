package io.understudy.mirror.revisions;

import io.etcd.jetcd.api.CompactionRequest;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.revisions.CheckpointHistory.TargetUnreadableException;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compacts the target's history beyond the configured age, or warns of missing compaction. The age of a revision that
 * put a checkpoint is that of the checkpoint; that of others is not known.
 *
 * <p>One thread, but for {@link #compacted} and {@link #warning}.
 *
 * <p>Invariant M33: the target is compacted up to the mirror's last write of the configured age, and no further.
 */
public final class TargetCompaction {

    private static final Logger LOG = LoggerFactory.getLogger(TargetCompaction.class);

    private static final Duration MAX_INTERVAL = Duration.ofMinutes(5);
    private static final int INTERVALS_PER_AGE = 10;

    /** History in revisions that needs compaction at any age. */
    private static final long MANY_REVISIONS = 1_000_000;

    /** History in revisions that needs compaction if older than {@link #LONG}. */
    private static final long SOME_REVISIONS = 10_000;

    private static final Duration LONG = Duration.ofHours(24);

    private final String mirror;
    private final @Nullable Duration after;
    private final CheckpointHistory history;
    private final RevisionMap map;
    private final ClusterCalls calls;
    private final long someRevisions;
    private final Duration interval;
    private long lastNanos;
    private boolean hasRun;
    private volatile Revision compacted = Revision.ZERO;
    private volatile @Nullable String warning;

    /**
     * @param target stays the caller's to close
     * @param after how old a revision must be to be compacted; null to only warn
     */
    public TargetCompaction(String mirror, EtcdCluster target, @Nullable Duration after) {
        this(mirror, target, after, SOME_REVISIONS);
    }

    /** @param someRevisions so many that are older than a day are warned of */
    TargetCompaction(String mirror, EtcdCluster target, @Nullable Duration after, long someRevisions) {
        this.mirror = mirror;
        this.someRevisions = someRevisions;
        this.after = after;
        this.history = new CheckpointHistory(mirror, target);
        this.map = new RevisionMap(history);
        this.calls = new ClusterCalls(target, Duty.WRITE, target.settings().requestTimeout());
        Duration part = after == null ? MAX_INTERVAL : after.dividedBy(INTERVALS_PER_AGE);
        this.interval = part.compareTo(MAX_INTERVAL) < 0 ? part : MAX_INTERVAL;
    }

    /** Compacts or warns when the interval has passed. A target that doesn't answer is left for the next time. */
    public void step() throws InterruptedException {
        if (hasRun && System.nanoTime() - lastNanos < interval.toNanos()) {
            return;
        }
        hasRun = true;
        lastNanos = System.nanoTime();
        try {
            compactOrWarn(Instant.now());
        } catch (TargetUnreadableException | CallFailedException e) {
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("cause", e.getMessage())
                    .log("target compaction check failed");
        }
    }

    /** Returns the target revision of the last compaction; zero for none. */
    public Revision compacted() {
        return compacted;
    }

    /** Warning that the history grows without compaction; null if there is none. */
    public @Nullable String warning() {
        return warning;
    }

    void compactOrWarn(Instant now) throws TargetUnreadableException, CallFailedException, InterruptedException {
        Moment head = history.now();
        if (after == null) {
            warn(now, head);
        } else {
            compact(now.minus(after), head);
        }
    }

    private void compact(Instant before, Moment head)
            throws TargetUnreadableException, CallFailedException, InterruptedException {
        Optional<Moment> last = Optional.of(head);
        if (!isOlder(last, before)) {
            // The one before the first that is young was current when the time came.
            Revision young = map.first(Revision.ZERO, head.revision(), at -> isYounger(at, before));
            last = young.value() > 1 ? history.at(new Revision(young.value() - 1)) : Optional.empty();
        }
        if (isOlder(last, before)) {
            // No further: what others have written since may be young.
            compactTo(last.orElseThrow().written());
        }
    }

    private void compactTo(Revision revision) throws CallFailedException, InterruptedException {
        if (!revision.isAfter(compacted) || revision.equals(Revision.ZERO)) {
            return;
        }
        try {
            var unused = calls.kv(stub -> stub.compact(
                    CompactionRequest.newBuilder().setRevision(revision.value()).build()));
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("revision", revision)
                    .log("target compacted");
        } catch (CallFailedException e) {
            // Another client has compacted first.
            if (e.error() != EtcdError.COMPACTED) {
                throw e;
            }
        }
        compacted = revision;
    }

    private void warn(Instant now, Moment head) throws TargetUnreadableException, InterruptedException {
        Revision oldest = map.oldest(head.revision());
        long revisions = head.revision().value() - oldest.value();
        boolean old = isOlder(history.at(oldest), now.minus(LONG));
        if (revisions < MANY_REVISIONS && !(old && revisions >= someRevisions)) {
            warning = null;
            return;
        }
        if (warning == null) {
            LOG.atWarn()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("revisions", revisions)
                    .log("target history is not compacted");
        }
        warning = "target history is not compacted and has " + revisions
                + " revisions. Set compactTarget, or the target's --auto-compaction-retention";
    }

    private static boolean isYounger(Optional<Moment> at, Instant than) {
        Checkpoint checkpoint = at.map(Moment::checkpoint).orElse(null);
        return checkpoint != null && checkpoint.at().isAfter(than);
    }

    private static boolean isOlder(Optional<Moment> at, Instant than) {
        Checkpoint checkpoint = at.map(Moment::checkpoint).orElse(null);
        return checkpoint != null && !checkpoint.at().isAfter(than);
    }
}
