package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.AsciiString;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.trace.CallTrace.Carrier;
import io.vertx.core.Future;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One request and its answer, over HTTP/1.1 or HTTP/2. On the connection's loop. */
interface Exchange {

    /** Bytes of an answer that are encoded at a time. */
    int PIECE_BYTES = 128 << 10;

    ClientConnection connection();

    RequestHead request();

    ByteBufAllocator allocator();

    /** Whether the client reads; otherwise written data accumulates in memory. */
    boolean writable();

    /** Runs {@code resume} once when the client reads again, unless it disconnects before. */
    void whenWritable(Runnable resume);

    /**
     * Counts the memory that a body keeps while it waits for the client, until another one is named, null, or the
     * answer ends. If such bodies keep too much, the answer is aborted.
     *
     * @param moved whether a part of it was written since: counts it again, as one that is read
     */
    void waitsWith(@Nullable AnswerBody body, boolean moved);

    /** Begins the answer. {@code length} of the body is negative if unknown. */
    void head(int status, List<Field> fields, long length);

    /** Writes the next part of the answer's body, and releases it. */
    void body(ByteBuf data, boolean end);

    /**
     * Reports how many bytes of its messages or body are held in total, complete or not, until {@link #releaseAll}.
     *
     * @throws ApiException if the connection's requests, or those of all connections, hold too much; then none of it
     *     counts as held
     */
    void hold(int bytes) throws ApiException;

    /** Nothing of its messages or body is held any more. */
    void releaseAll();

    /** What is held now is no longer released by this exchange, but by the returned task. */
    Runnable handOverHeld();

    /** Counts what is held until {@code work} ends, which has the request even if the client has gone. */
    default void holdUntil(Future<?> work) {
        if (!work.isComplete()) {
            Runnable release = handOverHeld();
            work.onComplete(ended -> release.run());
        }
    }

    /** Whether the answer may begin before the request has ended. */
    default boolean duplex() {
        return false;
    }

    /** Returns bytes to the client's window. */
    default void consumed(int bytes) {
        // The protocol has no windows.
    }

    /** Aborts the answer, visibly for the client. */
    void abort();

    /** The head of a request, over HTTP/1.1 or HTTP/2. */
    interface RequestHead extends Carrier {

        /** The method, such as {@code GET}. */
        CharSequence method();

        /** The path and the query, as sent. */
        CharSequence target();

        /** Returns all values of a field; {@code name} is in lower case. */
        List<String> headers(AsciiString name);
    }

    /** The body that an exchange has yet to write, counted while it waits for the client. On the connection's loop. */
    final class WaitingBody {

        private final Executor loop;
        private @Nullable AnswerBody body;
        private @Nullable Runnable release;

        WaitingBody(Executor loop) {
            this.loop = loop;
        }

        /** Counts {@code next} instead of the last one; {@code end} runs on the loop if it is to be ended. */
        @SuppressWarnings("ReferenceEquality") // It has no other identity.
        void become(@Nullable AnswerBody next, boolean moved, Runnable end) {
            if (body != next || moved) {
                if (release != null) {
                    release.run();
                }
                body = next;
                release = next == null
                        ? null
                        : next.keep(() -> loop.execute(() -> {
                            if (body == next) {
                                end.run();
                            }
                        }));
            }
        }
    }

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
            boolean moved = false;
            while (more) {
                if (!exchange.writable()) {
                    exchange.waitsWith(body, moved);
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
                moved = true;
                rest -= piece.readableBytes();
                exchange.body(piece, ends && !more);
            }
            exchange.waitsWith(null, false);
            done.run();
        }
    }

    /** Detects that pending work makes no progress over a number of checks. */
    final class Stall {

        /** Number of checks within the timeout. */
        static final int CHECKS = 4;

        private long moved;
        private int still;

        /**
         * Checks.
         *
         * @param waits whether work is pending
         * @param nowMoved differs from the last check's after progress
         * @return whether the timeout has passed
         */
        boolean lasts(boolean waits, long nowMoved) {
            still = waits && nowMoved == moved ? still + 1 : 0;
            moved = nowMoved;
            // One more, since the wait may have begun just before the first.
            return still > CHECKS;
        }
    }

    /** Reads a request after its head. On the connection's loop. */
    interface RequestReader {

        /**
         * Reads the next part of the request's body.
         *
         * @param data not to be kept
         * @param end whether it is the last
         * @return bytes to return to the client's window now; the exchange is notified of the rest later
         */
        int read(ByteBuf data, boolean end);

        /** Whether a request may stay open without a time limit. */
        default boolean lastsOpen() {
            return false;
        }

        /** The client has disconnected or cancelled; also called, once, when the answer has been written. */
        void closed();
    }
}
