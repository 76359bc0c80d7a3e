package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.stream.Stream;

/** A stream on a request's exchange. */
record WebCallStream(Exchange exchange, Runnable ended) implements WebStream {

    @Override
    public void begin(int status, List<Field> fields) {
        exchange.head(
                status, Stream.concat(fields.stream(), WebCall.CORS.stream()).toList(), -1);
    }

    @Override
    public boolean ready() {
        return exchange.writable();
    }

    @Override
    public void whenReady(Runnable task) {
        exchange.whenWritable(task);
    }

    @Override
    public void write(ByteBuf data) {
        exchange.body(data, false);
    }

    @Override
    public void end() {
        ended.run();
        exchange.body(Unpooled.EMPTY_BUFFER, true);
    }
}
