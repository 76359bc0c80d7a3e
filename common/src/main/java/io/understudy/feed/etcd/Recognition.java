package io.understudy.feed.etcd;

import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

/**
 * Verifies a history by one of its commits. A tail is opened <em>at</em> a commit that must be there, and the first
 * event decides: a restored cluster keeps its ID, and its new writes soon pass the old revision.
 *
 * <p>On resuming, that commit is the position's anchor. After a snapshot it is the one of the newest entry, and all up
 * to the snapshot's revision are dropped, the last of them becoming the anchor.
 *
 * <p>Pure state, owned by the feed's thread.
 */
final class Recognition {

    /** The conclusion from an event. */
    sealed interface Verdict {
        /** No conclusion yet; the consumer already has the commit. */
        record Undecided() implements Verdict {}

        /**
         * The history is the same.
         *
         * @param dropped whether the commit judged is one the consumer has
         */
        record Same(Position position, boolean dropped) implements Verdict {}

        /** The history is another one, unless compaction took (part of) the commit. */
        record Different(String why) implements Verdict {}
    }

    private static final Verdict UNDECIDED = new Verdict.Undecided();

    private final Revision start;
    /** Whether a commit at {@link #start} is known to exist. */
    private final boolean commitAtStart;
    /** The entry that this commit must have put, after a snapshot. */
    private final @Nullable KeyValue entryAtStart;

    private final boolean resuming;
    private Position position;
    private boolean first = true;

    private Recognition(Position position, Revision start, @Nullable KeyValue entryAtStart, boolean resuming) {
        this.position = position;
        this.start = start;
        this.commitAtStart = resuming || entryAtStart != null;
        this.entryAtStart = entryAtStart;
        this.resuming = resuming;
    }

    /** Resumes at a position that has an anchor. */
    static Recognition resuming(Position position) {
        Position.Anchor anchor = position.anchor();
        if (anchor == null) {
            throw new IllegalArgumentException("no anchor to verify the history of " + position);
        }
        return new Recognition(position, anchor.revision(), null, true);
    }

    /** Resumes at a position without an anchor: any first commit is accepted. */
    static Recognition following(Position position) {
        return new Recognition(position, position.revision().next(), null, false);
    }

    /** As {@link #following} at the member's present: etcd sends no progress to watches of the future. */
    static Recognition followingLive(Position position) {
        return new Recognition(position, Revision.ZERO, null, false);
    }

    /** Before a snapshot of {@code position}: anchors it in the last commit within {@code span} revisions. */
    static Recognition anchoring(Position position, long span) {
        long start = Math.max(1, position.revision().value() - span);
        return new Recognition(position, new Revision(start), null, false);
    }

    /**
     * Resumes after a snapshot.
     *
     * @param newest the entry of the highest mod revision on its pages, null if they were empty
     * @param replayAtMost revisions; further back than this the newest entry is not looked for, and the position stays
     *     without an anchor unless a commit is found at the snapshot's own revision
     */
    static Recognition afterSnapshot(Position position, @Nullable KeyValue newest, long replayAtMost) {
        return newest != null
                        && position.revision().value() - newest.modRevision().value() <= replayAtMost
                ? new Recognition(position, newest.modRevision(), newest, false)
                : anchoring(position, 0);
    }

    /** Start revision of the tail; {@link Revision#ZERO} for the member's present. */
    Revision start() {
        return start;
    }

    /** Whether commits from {@link #start} up to the position are dropped, once the history is recognised. */
    boolean dropsCommits() {
        return !resuming && start.value() > 0 && !start.isAfter(position.revision());
    }

    Verdict onCommit(Commit commit) {
        if (commit.revision().isBefore(start)) {
            // Before 3.5.22 a member restored by its leader's snapshot can send a watcher revisions before its start.
            return UNDECIDED;
        }
        boolean wasFirst = first;
        first = false;
        if (wasFirst && commitAtStart && !commit.revision().equals(start)) {
            return new Verdict.Different(
                    "no commit at revision " + start + "; first commit is at " + commit.revision());
        }
        if (wasFirst && entryAtStart != null && !commit.changes().contains(new Change.Put(entryAtStart))) {
            return new Verdict.Different("commit at revision " + start + " differs from the newest snapshot entry");
        }
        return resuming ? compare(commit) : collect(commit);
    }

    /** @param complete revision up to which the member has sent everything */
    Verdict onProgress(Revision complete) {
        if (complete.isBefore(position.revision())) {
            return UNDECIDED;
        }
        return first && commitAtStart
                ? new Verdict.Different("no commit at revision " + start + " up to " + complete)
                : new Verdict.Same(position, false);
    }

    /** The position at {@code revision}, anchored in {@code commit}, of the same cluster as {@code before}. */
    static Position anchored(Position before, Revision revision, Commit commit) {
        return new Position(before.cluster(), revision, Position.Anchor.of(commit));
    }

    private Verdict compare(Commit commit) {
        Position.Anchor found = Position.Anchor.of(commit);
        return found.equals(position.anchor())
                ? new Verdict.Same(position, true)
                : new Verdict.Different("commit at revision " + start + " has digest " + found.digest()
                        + ", which differs from the consumed commit");
    }

    private Verdict collect(Commit commit) {
        if (commit.revision().isAfter(position.revision())) {
            return new Verdict.Same(position, false);
        }
        position = anchored(position, position.revision(), commit);
        return commit.revision().equals(position.revision()) ? new Verdict.Same(position, true) : UNDECIDED;
    }
}
