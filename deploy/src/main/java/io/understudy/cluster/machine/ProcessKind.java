package io.understudy.cluster.machine;

/** Who starts and stops a member. */
public enum ProcessKind {
    /** We do, as a process of this machine. */
    LOCAL,
    /** systemd of this machine does, told by us. */
    SYSTEMD,
    /** Its operator does, told in words. */
    MANUAL
}
