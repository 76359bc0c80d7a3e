package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.ApiException;

/** Receives the body of a request that may stay open. On its event loop. */
public interface BodyReader {

    /**
     * Reads the next part; {@link WebRequest#consumed} returns it to the client's window, {@link WebRequest#keep} counts
     * what is held of it.
     *
     * @param data not to be kept
     * @param end whether it is the last
     */
    void read(ByteBuf data, boolean end);

    /** Ends the call: the connection's requests keep too much. */
    void refuse(ApiException why);
}
