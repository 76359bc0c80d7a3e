package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.understudy.gateway.api.AnswerBody;
import java.util.function.Consumer;

/**
 * Writes a body to an exchange, piece by piece, as the client takes it. While the client doesn't, nothing of the body is
 * held but what it is made of.
 *
 * <p>Invariant S3: a client that does not read uses bounded memory, and work for a disconnected client stops.
 */
final class BodyPump {

    /** What may stick out of a piece without making its buffer grow. */
    private static final int SLACK_BYTES = 8 << 10;

    private final Exchange exchange;
    private final AnswerBody body;
    private final boolean ends;
    private final Runnable done;
    private final Consumer<Throwable> broken;
    private long rest;

    /**
     * Does nothing until {@link #run}.
     *
     * @param ends whether the body's end is the answer's
     * @param done run after the last piece was written
     * @param broken called if the body can't be produced to its end
     */
    BodyPump(Exchange exchange, AnswerBody body, boolean ends, Runnable done, Consumer<Throwable> broken) {
        this.exchange = exchange;
        this.body = body;
        this.ends = ends;
        this.done = done;
        this.broken = broken;
        this.rest = body.length() == AnswerBody.UNKNOWN ? Long.MAX_VALUE : body.length();
    }

    /** Writes what the client takes now, and comes back for the rest. */
    void run() {
        boolean more = true;
        while (more) {
            if (!exchange.writable()) {
                exchange.whenWritable(this::run);
                return;
            }
            int wanted = (int) Math.min(Exchange.PIECE_BYTES, rest);
            ByteBuf piece = Unpooled.EMPTY_BUFFER;
            try {
                piece = exchange.allocator().directBuffer(wanted == rest ? wanted : wanted + SLACK_BYTES);
                more = body.appendTo(piece, wanted);
            } catch (Throwable e) {
                // Errors too: without memory for a piece the client would wait for ever.
                piece.release();
                broken.accept(e);
                return;
            }
            rest -= piece.readableBytes();
            exchange.body(piece, ends && !more);
        }
        done.run();
    }
}
