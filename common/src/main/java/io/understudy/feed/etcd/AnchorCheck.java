package io.understudy.feed.etcd;

import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.CommitDigest;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

/**
 * Recognises a history by its anchor. A tail is opened <em>at</em> the anchor's revision, or at the position's where no
 * anchor is known; what comes first decides. Needed because a cluster restored from a backup keeps its id, and its new
 * writes soon pass the old revision.
 *
 * <p>Pure: everything it needs comes in.
 */
record AnchorCheck(Position position) {

    /** What the first thing heard means. */
    sealed interface Verdict {
        /**
         * The history is the same, as far as can be known.
         *
         * @param dropped whether the commit was the anchor itself, which the consumer has
         */
        record Same(Position position, boolean dropped) implements Verdict {}

        /** The history is another one, unless compaction took (part of) the anchor's commit. */
        record Different(String why) implements Verdict {}
    }

    /** Where to open the tail. */
    Revision start() {
        Position.Anchor anchor = position.anchor();
        return anchor == null ? position.revision() : anchor.revision();
    }

    Verdict onFirstCommit(Commit commit) {
        Position.Anchor anchor = position.anchor();
        boolean atStart = commit.revision().equals(start());
        if (anchor == null) {
            return new Verdict.Same(atStart ? anchored(position, position.revision(), commit) : position, atStart);
        }
        if (!atStart) {
            return new Verdict.Different(
                    "no commit at revision " + anchor.revision() + ", the first is at " + commit.revision());
        }
        CommitDigest found = CommitDigest.of(commit);
        if (!found.equals(anchor.digest())) {
            return new Verdict.Different("the commit at revision " + anchor.revision() + " has digest " + found
                    + " there, " + anchor.digest() + " was consumed");
        }
        return new Verdict.Same(position, true);
    }

    /** @param complete revision up to which the member says nothing (more) is to come */
    @Nullable Verdict onProgress(Revision complete) {
        if (complete.isBefore(start())) {
            return null;
        }
        Position.Anchor anchor = position.anchor();
        return anchor == null
                ? new Verdict.Same(position, false)
                : new Verdict.Different("no commit at revision " + anchor.revision() + " up to " + complete);
    }

    /** The position at {@code revision}, anchored in {@code commit}, of the same cluster as {@code before}. */
    static Position anchored(Position before, Revision revision, Commit commit) {
        return new Position(
                before.cluster(), revision, new Position.Anchor(commit.revision(), CommitDigest.of(commit)));
    }
}
