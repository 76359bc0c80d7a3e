package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import java.util.List;

/**
 * An answer that goes on until somebody ends it. On the event loop of the request's connection; whatever is written after
 * the client has gone is dropped.
 */
public interface WebStream {

    /** Begins it, once, before anything is written. */
    void begin(int status, List<Field> fields);

    /** Whether the client takes more; what is written regardless is kept. */
    boolean ready();

    /**
     * Runs {@code task} once when the client takes more. A client that takes nothing for {@code limits.stallTimeout} while
     * somebody waits so is cut off.
     */
    void whenReady(Runnable task);

    /** Writes what comes next, and takes it over. */
    void write(ByteBuf data);

    /** Nothing follows. */
    void end();
}
