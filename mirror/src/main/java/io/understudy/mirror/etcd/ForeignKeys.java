package io.understudy.mirror.etcd;

/** What to do with keys that the target range held before its first synchronisation. */
public enum ForeignKeys {
    /** Refuse to start, naming some. */
    FAIL,
    /** Delete those that the source doesn't have. */
    DELETE,
    /** Leave those that the source doesn't have: the target range is then not equal to the source's. */
    KEEP
}
