package io.understudy.etcd;

/** State of an address or a member at the last probe; best first. */
public enum Health {
    /** Answers, and has a leader. A learner that is cut off keeps reporting its last leader. */
    HEALTHY,
    /** Answers, but has no leader: good for serializable reads only. */
    LEADERLESS,
    /** Not probed yet, or no address is known. */
    UNKNOWN,
    /** Did not answer in time, or with an error. */
    UNREACHABLE
}
