package io.understudy.mirror.pipeline;

import io.understudy.mirror.checkpoint.Checkpoint;
import java.time.Instant;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The displayed state of a mirror at one moment.
 *
 * @param source description of the source
 * @param target description of the target
 * @param reason why it is in its state
 * @param since start of its state
 * @param checkpoint as last stored in the target; null before the first
 * @param completeRevision the target holds every commit up to it; 0 for none
 * @param lagRevisions empty while the source's revision is not known
 * @param lagMillis since when the source has had something the target doesn't have; empty while that is not known
 * @param lastTargetResponse when the target last confirmed an operation, so the age of checkpoint and lag; null before
 *     the first
 * @param snapshot how far a snapshot is copied; null while none is
 * @param lastError the last failure, also when it has passed; null for none
 */
public record MirrorReport(
        String mirror,
        String source,
        String target,
        MirrorState state,
        String reason,
        Instant since,
        @Nullable Checkpoint checkpoint,
        long completeRevision,
        OptionalLong lagRevisions,
        OptionalLong lagMillis,
        double changesPerSecond,
        long changes,
        long transactions,
        long retries,
        @Nullable Instant lastTargetResponse,
        @Nullable SnapshotProgress snapshot,
        @Nullable String lastError) {

    /**
     * The progress of a snapshot.
     *
     * @param keys keys of the source that were written to the target or found there
     * @param total approximate number of keys at the start; empty while unknown
     * @param keysPerSecond since it began
     * @param remainingMillis at that rate; empty while {@code total} is not known
     */
    public record SnapshotProgress(long keys, OptionalLong total, double keysPerSecond, OptionalLong remainingMillis) {}
}
