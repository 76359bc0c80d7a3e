package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;

/** Takes what a client sends after a request's head. On the connection's loop. */
interface RequestReader {

    /**
     * The next part of the request's body.
     *
     * @param data not to be kept
     * @param end whether it is the last
     * @return how many bytes of it the client may replace by others; the exchange is notified of the rest later
     */
    int read(ByteBuf data, boolean end);

    /** Whether a client may leave its request open for as long as it likes. */
    default boolean lastsOpen() {
        return false;
    }

    /** The client has disconnected or cancelled; also called, once, when the answer has been written. */
    void closed();
}
