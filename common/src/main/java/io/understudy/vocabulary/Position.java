package io.understudy.vocabulary;

import org.jspecify.annotations.Nullable;

/**
 * A consumer's position in one cluster's history: it holds every commit up to {@code revision}.
 *
 * @param anchor the last commit seen inside the range, by which the history is recognised again on resuming; null when
 *     none was seen yet, and then the history cannot be verified
 */
public record Position(
        ClusterId cluster, Revision revision, @Nullable Anchor anchor) implements FeedStart {

    public Position {
        if (anchor != null && anchor.revision().isAfter(revision)) {
            throw new IllegalArgumentException(
                    "anchor revision " + anchor.revision() + " is after position revision " + revision);
        }
    }

    /**
     * A commit known to be part of the history.
     *
     * @param revision at most the position's; equal to it on a feed of the whole key space
     */
    public record Anchor(Revision revision, CommitDigest digest) {

        public static Anchor of(Commit commit) {
            return new Anchor(commit.revision(), CommitDigest.of(commit));
        }
    }

    /** The position of a consumer that has taken {@code commit} as well, the next one. */
    public Position after(Commit commit) {
        return new Position(cluster, commit.revision(), Anchor.of(commit));
    }

    /** The position of a consumer for which nothing happened up to {@code complete}. */
    public Position upTo(Revision complete) {
        return new Position(cluster, complete, anchor);
    }
}
