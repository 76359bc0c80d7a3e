package io.understudy.feed.etcd;

/** The voter that a feed watches. A gateway is watched before a follower, and left for the leader. */
public enum WatchedVoter {
    /** A follower's, where there is one when the watch is opened: the leader has no work with it. */
    FOLLOWER,
    /**
     * The leader's, wherever the leadership goes: a follower learns of a commit a message later, and not while it is writing
     * its own log to disk. History is read at a follower even so.
     */
    LEADER
}
