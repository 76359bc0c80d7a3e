package io.understudy.mirror.pipeline;

import java.util.Locale;

/**
 * State of a mirror.
 *
 * <pre>
 *   starting -> syncing -> synced      by what the feed gives
 *   synced &lt;-> torn   while a commit is written in parts
 *   synced &lt;-> differs   while keys of the target differ by the last comparison
 *   syncing, synced -> starting   while a snapshot is awaited
 *   starting, syncing, synced &lt;-> retrying   while a cluster doesn't answer
 *   any of these &lt;-> standby   while another process of the mirror is active
 *   any of these &lt;-> conflict   while both clusters hold the primary role
 *   any of these &lt;-> failed    until an attempt after the failure is synced, or another process active
 *   any -> stopped             for good
 * </pre>
 */
public enum MirrorState {
    /** Another process is active; this one waits to take over. */
    STANDBY,
    /** Both clusters hold the primary role; nothing is replicated until an operator resolves that. */
    CONFLICT,
    /** The checkpoint is read, then the source's first event awaited. */
    STARTING,
    /** A snapshot is being written. */
    SYNCING,
    /** The target is the source's state at the checkpoint; commits are relayed. */
    SYNCED,
    /** Like {@link #SYNCED}, while a commit larger than one request is written in parts. */
    TORN,
    /** Like {@link #SYNCED}, with differing keys by the comparison with the source. */
    DIFFERS,
    /** A required cluster does not respond; the reason names it, and attempts continue. */
    RETRYING,
    /** Stopped by an error; retried with back-off. Other mirrors of the process continue. */
    FAILED,
    /** Stopped on request. */
    STOPPED;

    /** Returns the displayed and logged name. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether commits are relayed and none is partly written. */
    public boolean isFollowing() {
        return this == SYNCED || this == DIFFERS;
    }

    boolean isFinal() {
        return this == STOPPED;
    }
}
