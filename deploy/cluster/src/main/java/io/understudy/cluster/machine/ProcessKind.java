package io.understudy.cluster.machine;

/** How a member is started and stopped. */
public enum ProcessKind {
    /** We do, as a process of this machine. */
    LOCAL,
    /** By systemd on this machine. */
    SYSTEMD,
    /** By an operator, by printed instructions. */
    MANUAL
}
