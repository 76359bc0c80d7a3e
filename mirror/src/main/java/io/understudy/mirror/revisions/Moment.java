package io.understudy.mirror.revisions;

import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

/**
 * A target at one of its revisions: its mirrored range is the source's at the checkpoint's revision, if that is {@code
 * synced}.
 *
 * @param target the cluster that was read
 * @param revision of the target
 * @param created at which of the target's revisions the first checkpoint was written, zero while there is none
 * @param written at which of the target's revisions this checkpoint was written, zero while there is none
 * @param checkpoint null while there is none
 */
public record Moment(
        ClusterId target,
        Revision revision,
        Revision created,
        Revision written,
        @Nullable Checkpoint checkpoint) {

    /** Whether it holds every commit of that source up to there, and possibly more. */
    boolean holdsMoreThan(Revision seen, ClusterId source) {
        return checkpoint != null
                && checkpoint.source().equals(source)
                && checkpoint.revision().isAfter(seen);
    }

    /** Whether both are of one source. */
    boolean isOf(Moment other) {
        return checkpoint != null
                && other.checkpoint != null
                && checkpoint.source().equals(other.checkpoint.source());
    }

    /** Whether it holds a state that the source had; so it does when there is no checkpoint yet: that of an empty source. */
    boolean isWhole() {
        return checkpoint == null || checkpoint.state() == CheckpointState.SYNCED;
    }
}
