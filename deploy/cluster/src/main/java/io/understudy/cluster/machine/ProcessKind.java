package io.understudy.cluster.machine;

/** The way in which a member is started and stopped. */
public enum ProcessKind {
    /** As a process of this machine. */
    LOCAL,
    /** By systemd on this machine. */
    SYSTEMD,
    /** By an operator, by printed instructions. */
    MANUAL
}
