package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.ApiException;

/** Receives the body of a request that may stay open. On its event loop. */
public interface BodyReader {

    /**
     * Reads the next part; {@link WebRequest#consumed} returns it to the client's window.
     *
     * @param data not to be kept
     * @param end whether it is the last
     * @return number of bytes that are kept of an incomplete message
     */
    int read(ByteBuf data, boolean end);

    /** Ends the call: the connection's requests keep too much. */
    void refuse(ApiException why);
}
