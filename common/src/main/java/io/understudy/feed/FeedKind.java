package io.understudy.feed;

/** The consumer's requirement when it is far behind. */
public enum FeedKind {
    /** The current state and every later commit. Far behind, the feed delivers a snapshot to merge. */
    STATE,
    /** As {@link #STATE}, without state across restarts: no other feed can continue its snapshot. */
    TRANSIENT,
    /** Every commit: the feed replays history, slowly, from a follower. */
    HISTORY
}
