package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.understudy.gateway.api.AnswerBody;
import java.util.function.Consumer;

/**
 * Writes a body to an exchange in pieces, as the client reads. Until then the body is not encoded.
 *
 * <p>Invariant S3: a client that does not read uses bounded memory, and work for a disconnected client stops.
 */
final class BodyPump {

    /** Spare bytes of a buffer, so that a piece may exceed its size. */
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
     * @param ends whether the body ends the answer
     * @param done called after the last piece was written
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

    /** Writes until the client stops reading, and resumes later. */
    void run() {
        boolean more = true;
        while (more) {
            if (!exchange.writable()) {
                exchange.waitsWith(body);
                exchange.whenWritable(this::run);
                return;
            }
            int wanted = (int) Math.min(Exchange.PIECE_BYTES, rest);
            ByteBuf piece = Unpooled.EMPTY_BUFFER;
            try {
                piece = exchange.allocator().directBuffer(wanted == rest ? wanted : wanted + SLACK_BYTES);
                more = body.appendTo(piece, wanted);
            } catch (Throwable e) {
                // Errors too: without memory the client would wait forever.
                piece.release();
                broken.accept(e);
                return;
            }
            rest -= piece.readableBytes();
            exchange.body(piece, ends && !more);
        }
        exchange.waitsWith(null);
        done.run();
    }
}
