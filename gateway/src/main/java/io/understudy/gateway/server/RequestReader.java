package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;

/** Reads a request after its head. On the connection's loop. */
interface RequestReader {

    /**
     * Reads the next part of the request's body.
     *
     * @param data not to be kept
     * @param end whether it is the last
     * @return bytes to return to the client's window now; the exchange is notified of the rest later
     */
    int read(ByteBuf data, boolean end);

    /** Whether a request may stay open without a time limit. */
    default boolean lastsOpen() {
        return false;
    }

    /** The client has disconnected or cancelled; also called, once, when the answer has been written. */
    void closed();
}
