package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.understudy.gateway.api.ApiException;
import java.util.List;

/** One request and its answer, in either version of HTTP: where the answer goes. On the connection's loop. */
interface Exchange {

    /** What is produced of an answer at a time. */
    int PIECE_BYTES = 128 << 10;

    ClientConnection connection();

    RequestHead request();

    ByteBufAllocator allocator();

    /** Whether the client takes more; what is written regardless piles up in memory. */
    boolean writable();

    /** Runs {@code resume} once when the client takes more, unless it goes away before. */
    void whenWritable(Runnable resume);

    /** Begins the answer. {@code length} of the body, negative if that isn't known. */
    void head(int status, List<Field> fields, long length);

    /** Writes the next part of the answer's body, and takes it over. */
    void body(ByteBuf data, boolean end);

    /**
     * Reports how many bytes of an incomplete message are held in total.
     *
     * @throws ApiException the connection's requests keep too much
     */
    default void arriving(int bytes) throws ApiException {
        // There is one at a time.
    }

    /** Whether the answer may begin before the request has ended. */
    default boolean duplex() {
        return false;
    }

    /** Lets the client send as many bytes more. */
    default void consumed(int bytes) {
        // The protocol has no windows.
    }

    /** Lets the client see that the answer has no end. */
    void abort();
}
