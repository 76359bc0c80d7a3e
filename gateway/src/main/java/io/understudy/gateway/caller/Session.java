package io.understudy.gateway.caller;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client connection and its newest served revision: later responses must not be older. Confined to the connection's
 * event loop.
 *
 * <p>Invariant C2: revisions on one connection never decrease, whichever component answers.
 */
public final class Session {

    private static final Logger LOG = LoggerFactory.getLogger(Session.class);

    private final Supplier<String> client;
    private long lastRevision;
    private boolean taken;
    /** Reads that wait for the session; at most the client's requests under way. */
    private final Queue<Runnable> waiting = new ArrayDeque<>(0);

    /** A session without a client. */
    public Session() {
        this(() -> "");
    }

    /** @param client see {@link #client} */
    public Session(Supplier<String> client) {
        this.client = client;
    }

    /** The client's name for limits, the same for all its connections. */
    public String client() {
        return client.get();
    }

    /** The greatest revision answered so far, 0 before the first. */
    public long lastRevision() {
        return lastRevision;
    }

    /** Records the revision of an answer about to be sent. */
    public void answered(long revision) {
        lastRevision = Math.max(lastRevision, revision);
    }

    /** Whether a read holds the session exclusively, so that others wait. */
    public boolean isTaken() {
        return taken;
    }

    /**
     * Takes the free session exclusively, for a slow read. Faster reads would repeatedly overtake it with newer
     * revisions.
     */
    public void take() {
        if (taken) {
            throw new IllegalStateException("session is already taken by another read");
        }
        taken = true;
    }

    /** Releases the session and runs the waiting reads. */
    public void release() {
        taken = false;
        while (!taken && !waiting.isEmpty()) {
            try {
                waiting.remove().run();
            } catch (RuntimeException | Error e) {
                // A failure must not stop the other reads.
                LOG.error("queued read failed", e);
            }
        }
    }

    /** Runs {@code read} once the session is free, in order of arrival. An exception does not affect other reads. */
    public void whenFree(Runnable read) {
        if (taken) {
            waiting.add(read);
        } else {
            read.run();
        }
    }
}
