package io.understudy.feed;

/** What a consumer needs when it is far behind. */
public enum FeedKind {
    /** The right state, and every commit from now on: far behind, the feed gives a snapshot to merge instead. */
    STATE,
    /** As {@link #STATE}, for a consumer that keeps nothing across restarts: no other feed can continue its snapshot. */
    TRANSIENT,
    /** Every commit: the feed replays history, slowly, from a follower. */
    HISTORY
}
