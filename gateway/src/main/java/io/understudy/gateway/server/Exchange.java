package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.AsciiString;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.trace.CallTrace.Carrier;
import java.util.List;
import java.util.concurrent.Executor;
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
     */
    void waitsWith(@Nullable AnswerBody body);

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
        void become(@Nullable AnswerBody next, Runnable end) {
            if (body != next) {
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
}
