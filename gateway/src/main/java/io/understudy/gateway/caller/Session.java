package io.understudy.gateway.caller;

import java.util.ArrayDeque;
import java.util.Queue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client connection, and the newest revision that was answered on it: nothing older may be answered on it afterwards.
 * Used on the connection's event loop only.
 *
 * <p>Invariant C2: revisions on one connection never decrease, whichever component answers.
 */
public final class Session {

    private static final Logger LOG = LoggerFactory.getLogger(Session.class);

    private final Principal peer;
    private long lastRevision;
    private boolean taken;
    /** What waits for the session to be free; no more than the client has requests under way. */
    private final Queue<Runnable> waiting = new ArrayDeque<>(0);

    /** Of somebody who has shown no certificate, or of whom that is known elsewhere. */
    public Session() {
        this(Principal.ANONYMOUS);
    }

    public Session(Principal peer) {
        this.peer = peer;
    }

    /** Who the connection itself says it is. */
    public Principal peer() {
        return peer;
    }

    /** The greatest revision answered so far, 0 before the first. */
    public long lastRevision() {
        return lastRevision;
    }

    /** An answer of this revision is about to be sent. */
    public void answered(long revision) {
        lastRevision = Math.max(lastRevision, revision);
    }

    /** Whether a read has the session for itself, so that others have to wait. */
    public boolean isTaken() {
        return taken;
    }

    /**
     * Lets a read have the session for itself: one that takes so long that others, begun after it, would again and again
     * be answered something newer in the meantime. Not while it is taken.
     */
    public void take() {
        if (taken) {
            throw new IllegalStateException("session is already taken by another read");
        }
        taken = true;
    }

    /** Ends what {@link #take} began; those that wait go on. */
    public void release() {
        taken = false;
        while (!taken && !waiting.isEmpty()) {
            try {
                waiting.remove().run();
            } catch (RuntimeException | Error e) {
                // The others waited as long.
                LOG.error("queued read failed", e);
            }
        }
    }

    /**
     * Runs {@code read} as soon as nobody has the session for itself, after those that have waited for longer. What it throws
     * then concerns nobody else.
     */
    public void whenFree(Runnable read) {
        if (taken) {
            waiting.add(read);
        } else {
            read.run();
        }
    }
}
