package io.understudy.feed;

/** What a consumer needs when it is far behind. */
public enum FeedKind {
    /** The right state, and every commit from now on: far behind, the feed gives a snapshot to merge instead. */
    STATE,
    /** As {@link #STATE}, and commits of the recent past: snapshots are of the past, as far back as the source allows. */
    RECENT,
    /** Every commit: the feed replays history, slowly, from a follower. */
    HISTORY
}
