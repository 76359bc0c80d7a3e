package io.understudy.gateway.watch;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.hub.EventBatch;

/** Writes a stream's responses in one protocol. On the event loop of the client's connection. */
public interface WatchOutput {

    /**
     * Whether the client reads its responses. If not, {@link WatchStream#ready} must be called when it does again;
     * responses sent meanwhile are buffered.
     */
    boolean ready();

    void control(WatchControl response);

    /** An encoded response of the source. */
    void message(byte[] response);

    /**
     * Sends events of a batch to a watcher.
     *
     * @param first index of the first event
     * @param end of them, exclusive
     * @param fragment whether the rest of the batch follows in further responses
     */
    void events(long watchId, EventBatch batch, int first, int end, boolean fragment);

    /** Flushes; no response follows immediately. */
    void flush();

    /** Ends the stream. */
    void end(ApiException why);
}
