package io.understudy.mirror.checkpoint;

import io.understudy.mirror.scope.MirrorScope;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Position.Anchor;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The progress of a mirror, written to the target together with the data.
 *
 * @param source the cluster that is copied
 * @param scope the part of its keys that is copied, and their names in the target
 * @param revision the target holds every commit up to it; during a first synchronisation {@link Revision#ZERO}
 * @param anchor identifies the source's history; null if unknown
 * @param epoch raised by each writer that takes the mirror over, from 1: writers of earlier epochs are fenced off
 * @param writer name of the writer for operators; differs between any two writers
 * @param path the mark: IDs of the clusters that the last written commit has passed, in order, ending with the source's
 * @param at when the feed delivered the last written commit, by the mirror's clock, to the millisecond
 */
public record Checkpoint(
        ClusterId source,
        MirrorScope scope,
        Revision revision,
        @Nullable Anchor anchor,
        long epoch,
        String writer,
        List<ClusterId> path,
        Instant at,
        CheckpointState state) {

    public Checkpoint {
        path = List.copyOf(path);
        at = at.truncatedTo(ChronoUnit.MILLIS);
        if (epoch < 1) {
            throw new IllegalArgumentException("epoch must be at least 1, is " + epoch);
        }
        if (writer.isBlank()) {
            throw new IllegalArgumentException("checkpoint has no writer");
        }
        if (anchor != null && anchor.revision().isAfter(revision)) {
            throw new IllegalArgumentException(
                    "anchor revision " + anchor.revision() + " is after checkpoint revision " + revision);
        }
    }

    /** Returns where the feed resumes; null if it must start with a snapshot. */
    public @Nullable Position resumeAt() {
        return state == CheckpointState.SYNCING ? null : new Position(source, revision, anchor);
    }

    /** Returns the checkpoint of a writer that takes over, with the next epoch. */
    public Checkpoint takenOverBy(String newWriter) {
        return new Checkpoint(source, scope, revision, anchor, epoch + 1, newWriter, path, at, state);
    }

    /** Returns this checkpoint without knowledge of its history. */
    public Checkpoint withoutAnchor() {
        return new Checkpoint(source, scope, revision, null, epoch, writer, path, at, state);
    }

    /** Returns this checkpoint in another state. */
    public Checkpoint in(CheckpointState newState) {
        return new Checkpoint(source, scope, revision, anchor, epoch, writer, path, at, newState);
    }

    /**
     * Returns this checkpoint before a synchronisation with another history.
     *
     * @param at revision of the next snapshot; recorded unless there was no complete state before
     */
    public Checkpoint inAnotherHistory(ClusterId newSource, Revision at) {
        return new Checkpoint(
                newSource,
                scope,
                revision.equals(Revision.ZERO) ? Revision.ZERO : at,
                null,
                epoch,
                writer,
                List.of(newSource),
                this.at,
                CheckpointState.SYNCING);
    }

    /** Returns the first checkpoint of a mirror. */
    public static Checkpoint first(ClusterId source, MirrorScope scope, String writer, Instant now) {
        return new Checkpoint(
                source, scope, Revision.ZERO, null, 1, writer, List.of(source), now, CheckpointState.SYNCING);
    }

    /** Returns this checkpoint with another mark and time, for the next write. */
    public Checkpoint marked(List<ClusterId> newPath, Instant newAt) {
        return new Checkpoint(source, scope, revision, anchor, epoch, writer, newPath, newAt, state);
    }

    /** Returns a checkpoint of maximum encoded size with the same scope, writer and mark. */
    public Checkpoint largest() {
        Anchor anchor =
                new Anchor(new Revision(Long.MAX_VALUE), CommitDigest.parse("00".repeat(CommitDigest.SIZE_BYTES)));
        return new Checkpoint(
                source,
                scope,
                anchor.revision(),
                anchor,
                Long.MAX_VALUE,
                writer,
                path,
                Instant.ofEpochMilli(999),
                CheckpointState.SYNCING);
    }

    /**
     * Returns this checkpoint, complete up to {@code position}.
     *
     * @throws IllegalArgumentException the position is earlier, or of another cluster
     */
    public Checkpoint syncedAt(Position position) {
        if (!position.cluster().equals(source) || position.revision().isBefore(revision)) {
            throw new IllegalArgumentException("checkpoint cannot move from " + this + " to revision "
                    + position.revision() + " of cluster " + position.cluster());
        }
        return new Checkpoint(
                source, scope, position.revision(), position.anchor(), epoch, writer, path, at, CheckpointState.SYNCED);
    }
}
