package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.stream.Stream;

/**
 * An answer that lasts until {@link #end}. On the event loop of the request's connection; whatever is written after
 * the client has gone is dropped.
 */
public final class WebStream {

    private final Exchange exchange;
    private final Runnable ended;

    WebStream(Exchange exchange, Runnable ended) {
        this.exchange = exchange;
        this.ended = ended;
    }

    /** Begins it, once, before anything is written. */
    public void begin(int status, List<Field> fields) {
        exchange.head(
                status, Stream.concat(fields.stream(), WebRequest.CORS.stream()).toList(), -1);
    }

    /** Whether the client takes more; what is written regardless is kept. */
    public boolean ready() {
        return exchange.writable();
    }

    /**
     * Runs {@code task} once when the client takes more. A client that takes nothing for {@code limits.stallTimeout}
     * meanwhile is disconnected.
     */
    public void whenReady(Runnable task) {
        exchange.whenWritable(task);
    }

    /** Writes what comes next, and takes it over. */
    public void write(ByteBuf data) {
        exchange.body(data, false);
    }

    /** Nothing follows. */
    public void end() {
        ended.run();
        exchange.body(Unpooled.EMPTY_BUFFER, true);
    }
}
