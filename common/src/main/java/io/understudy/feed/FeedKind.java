package io.understudy.feed;

/** What a consumer needs when it is far behind. */
public enum FeedKind {
    /** The right state, and every commit from now on: far behind, the feed gives a snapshot to merge instead. */
    STATE,
    /** Every commit: the feed replays history, slowly, from a follower. */
    HISTORY
}
