package io.understudy.mirror.etcd;

/** Action for keys that the target range held before its first synchronisation. */
public enum ForeignKeys {
    /** Fail and report some of them. */
    FAIL,
    /** Delete those that the source doesn't have. */
    DELETE,
    /** Keep keys that the source lacks: the target then differs from the source. */
    KEEP
}
