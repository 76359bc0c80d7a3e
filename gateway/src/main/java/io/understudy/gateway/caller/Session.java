package io.understudy.gateway.caller;

import java.util.function.Supplier;

/**
 * A client connection and its newest served revision: responses to later requests must not be older. Confined to the
 * connection's event loop.
 *
 * <p>Invariant C2: no response is older than one sent on its connection before its request arrived, whichever component
 * answers.
 */
public final class Session {

    private final Supplier<String> client;
    private long lastRevision;

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
}
