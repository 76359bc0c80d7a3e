package io.understudy.etcd;

/** How an address, or a member, fared when last probed; best first. */
public enum Health {
    /** Answers, and knows a leader; a learner that lost touch with the voters goes on naming its last one. */
    HEALTHY,
    /** Answers, but knows no leader: good for serializable reads only. */
    LEADERLESS,
    /** Not probed yet, or no address is known. */
    UNKNOWN,
    /** Did not answer in time, or with an error. */
    UNREACHABLE
}
