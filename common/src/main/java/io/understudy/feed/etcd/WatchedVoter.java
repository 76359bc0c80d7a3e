package io.understudy.feed.etcd;

/** The voter that a feed watches. A gateway is watched before a follower, and left for the leader. */
public enum WatchedVoter {
    /** A follower, if there is one at opening: this costs the leader nothing. */
    FOLLOWER,
    /**
     * The leader, across elections. A follower receives a commit one message later, and not while it writes its own log
     * to disk. History is read from a follower even so.
     */
    LEADER
}
