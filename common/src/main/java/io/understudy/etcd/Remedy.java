package io.understudy.etcd;

/** Possible reaction of a caller to a failed request. */
public enum Remedy {
    /** Retry at another endpoint, now. */
    ELSEWHERE,
    /** Retry after a pause; another endpoint would answer the same. */
    LATER,
    /** The write may or may not have happened: read before trying again. */
    OUTCOME_UNKNOWN,
    /** The request itself is at fault; repeating it is pointless. */
    CALLERS_FAULT,
    /** This cluster or this build can't serve it; stop and report that. */
    FATAL
}
