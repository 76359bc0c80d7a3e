package io.understudy.vocabulary;

import org.jspecify.annotations.Nullable;

/**
 * Where a consumer stands in one cluster's history: it holds every commit up to {@code revision}.
 *
 * @param anchor the last commit seen inside the range, by which the history is recognised again on resuming; null when
 *     none was seen yet, and then the history cannot be verified
 */
public record Position(
        ClusterId cluster, Revision revision, @Nullable Anchor anchor) {

    public Position {
        if (anchor != null && anchor.revision().isAfter(revision)) {
            throw new IllegalArgumentException(
                    "an anchor at revision " + anchor.revision() + " after the position " + revision);
        }
    }

    /**
     * A commit known to be part of the history.
     *
     * @param revision at most the position's; equal to it on a feed of the whole key space
     */
    public record Anchor(Revision revision, CommitDigest digest) {}
}
