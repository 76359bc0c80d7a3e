package io.understudy.mirror.checkpoint;

import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Position.Anchor;
import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

/**
 * How far a mirror has come, written to the target together with the data.
 *
 * @param source the cluster that is copied
 * @param range the part of its keys that is copied
 * @param revision the target holds every commit up to it; during a first synchronisation {@link Revision#ZERO}
 * @param anchor by which the source's history is recognised again, null when not known
 * @param epoch raised by each writer that takes the mirror over, from 1: writers of earlier epochs are fenced off
 * @param writer who wrote this, in words an operator understands; differs between any two writers
 */
public record Checkpoint(
        ClusterId source,
        KeyRange range,
        Revision revision,
        @Nullable Anchor anchor,
        long epoch,
        String writer,
        CheckpointState state) {

    public Checkpoint {
        if (epoch < 1) {
            throw new IllegalArgumentException("an epoch is 1 or more, not " + epoch);
        }
        if (writer.isBlank()) {
            throw new IllegalArgumentException("a checkpoint without a writer");
        }
        if (anchor != null && anchor.revision().isAfter(revision)) {
            throw new IllegalArgumentException(
                    "an anchor at revision " + anchor.revision() + " after the checkpoint's " + revision);
        }
    }

    /** Where the feed goes on; null if it must begin with a snapshot. */
    public @Nullable Position resumeAt() {
        return state == CheckpointState.SYNCING ? null : new Position(source, revision, anchor);
    }

    /** The same, taken over by another writer. */
    public Checkpoint takenOverBy(String newWriter) {
        return new Checkpoint(source, range, revision, anchor, epoch + 1, newWriter, state);
    }

    /** The same in another state. */
    public Checkpoint in(CheckpointState newState) {
        return new Checkpoint(source, range, revision, anchor, epoch, writer, newState);
    }

    /**
     * Complete up to {@code position}.
     *
     * @throws IllegalArgumentException that would be a step back, or into another cluster
     */
    public Checkpoint syncedAt(Position position) {
        if (!position.cluster().equals(source) || position.revision().isBefore(revision)) {
            throw new IllegalArgumentException("a checkpoint only moves forward: from " + this + " to revision "
                    + position.revision() + " of cluster " + position.cluster());
        }
        return new Checkpoint(
                source, range, position.revision(), position.anchor(), epoch, writer, CheckpointState.SYNCED);
    }
}
