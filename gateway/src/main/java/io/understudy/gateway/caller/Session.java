package io.understudy.gateway.caller;

/**
 * One client connection, and the newest revision that was answered on it: nothing older may be answered on it afterwards.
 * Used on the connection's event loop only.
 */
public final class Session {

    private long lastRevision;

    /** The greatest revision answered so far, 0 before the first. */
    public long lastRevision() {
        return lastRevision;
    }

    /** An answer of this revision is about to be sent. */
    public void answered(long revision) {
        lastRevision = Math.max(lastRevision, revision);
    }
}
