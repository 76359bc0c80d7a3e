package io.understudy.mirror.revisions;

import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

/**
 * A target at one of its revisions. Its mirrored range is the source's at the checkpoint's revision, if that is {@code
 * synced}.
 *
 * @param target the cluster that was read
 * @param revision of the target
 * @param created target revision of the first checkpoint; zero for none
 * @param written target revision of this checkpoint; zero for none
 * @param checkpoint null for none
 */
public record Moment(
        ClusterId target,
        Revision revision,
        Revision created,
        Revision written,
        @Nullable Checkpoint checkpoint) {

    /** Whether the target holds every commit of that source up to a revision, and more. */
    boolean holdsMoreThan(Revision seen, ClusterId source) {
        return checkpoint != null
                && checkpoint.source().equals(source)
                && checkpoint.revision().isAfter(seen);
    }

    /** Whether both have the same source. */
    boolean isOf(Moment other) {
        return checkpoint != null
                && other.checkpoint != null
                && checkpoint.source().equals(other.checkpoint.source());
    }

    /** Whether the target holds a state of the source. Without a checkpoint, it is that of an empty source. */
    boolean isWhole() {
        return checkpoint == null || checkpoint.state() == CheckpointState.SYNCED;
    }
}
