package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.server.Exchange.BodyPump;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An answer that lasts until {@link #end}. On the event loop of the request's connection; writes after a disconnect are
 * dropped.
 */
public final class WebStream {

    private static final Logger LOG = LoggerFactory.getLogger(WebStream.class);

    private final Exchange exchange;
    private final List<Field> always;
    private final Runnable ended;

    WebStream(Exchange exchange, List<Field> always, Runnable ended) {
        this.exchange = exchange;
        this.always = always;
        this.ended = ended;
    }

    /** Begins the answer, once, before the first write. */
    public void begin(int status, List<Field> fields) {
        exchange.head(status, Stream.concat(fields.stream(), always.stream()).toList(), -1);
    }

    /** Whether the client reads; otherwise written data is held. */
    public boolean ready() {
        return exchange.writable();
    }

    /** Runs {@code task} once when the client reads again. A stall of {@code limits.stallTimeout} disconnects it. */
    public void whenReady(Runnable task) {
        exchange.whenWritable(task);
    }

    /** Writes the next part, and releases it. */
    public void write(ByteBuf data) {
        exchange.body(data, false);
    }

    /** Writes a body as the client reads; nothing else is written until {@code done} runs. */
    public void write(AnswerBody body, Runnable done) {
        new BodyPump(exchange, body, false, done, broken -> {
                    LOG.error("writing a part of a stream failed", broken);
                    exchange.abort();
                })
                .run();
    }

    /** Aborts the answer, visibly for the client. */
    public void abort() {
        exchange.abort();
    }

    /** Ends the answer. */
    public void end() {
        ended.run();
        exchange.body(Unpooled.EMPTY_BUFFER, true);
    }
}
