package io.understudy.etcd;

/** How a member fared when last probed. */
public enum Health {
    /** Answers, and knows a leader. */
    HEALTHY,
    /** Not probed yet. */
    UNKNOWN,
    /** Answers, but knows no leader: good for serializable reads only. */
    LEADERLESS,
    /** Did not answer in time, or with an error. */
    UNREACHABLE
}
