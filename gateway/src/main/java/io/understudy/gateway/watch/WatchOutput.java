package io.understudy.gateway.watch;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.hub.EventBatch;

/** Where a stream's responses go, in one protocol. On the event loop of the client's connection. */
public interface WatchOutput {

    /**
     * Whether the client takes what it is told. If not, {@link WatchStream#ready} has to be called when it does again; what
     * it is told regardless is kept.
     */
    boolean ready();

    void control(WatchControl response);

    /** An encoded response of the source. */
    void message(byte[] response);

    /**
     * Tells a watcher of events.
     *
     * @param first of the batch's events that are told
     * @param end of them, exclusive
     * @param fragment whether the rest of the batch follows in further responses
     */
    void events(long watchId, EventBatch batch, int first, int end, boolean fragment);

    /** What was told may leave: nothing follows at once. */
    void flush();

    /** Ends the stream. */
    void end(ApiException why);
}
