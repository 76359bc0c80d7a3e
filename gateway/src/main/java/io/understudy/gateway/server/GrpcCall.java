package io.understudy.gateway.server;

import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.concurrent.ScheduledFuture;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.server.Deframer.Framed;
import io.understudy.gateway.server.Exchange.BodyPump;
import io.understudy.gateway.trace.CallTrace;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The life cycle of any call: deadline, outcome and single end. On its connection's event loop. */
final class GrpcCall {

    /** Maximum size of a token that does not count as held memory. */
    private static final int SMALL_TOKEN = 2 << 10;

    private final Http2Exchange exchange;
    private final RequestListener.Outcomes outcomes;
    private final Runnable overdue;
    private final long beginNanos = System.nanoTime();
    private @Nullable ScheduledFuture<?> timer;
    private boolean stream;
    private boolean admitted;
    private boolean headed;
    private boolean over;
    private boolean closed;
    private Runnable ended = () -> {};
    private CallTrace trace = CallTrace.NONE;

    /** {@code overdue} is called after the deadline, once the client has its response. */
    GrpcCall(Http2Exchange exchange, RequestListener.Outcomes outcomes, Runnable overdue) {
        this.exchange = exchange;
        this.outcomes = outcomes;
        this.overdue = overdue;
    }

    /**
     * Admits the call, reads its caller, and starts the deadline.
     *
     * @param lasts whether it is a stream
     * @throws ApiException if it is rejected or has invalid headers; the call has yet to be ended
     */
    Caller begin(boolean lasts) throws ApiException {
        if (!lasts) {
            trace = outcomes.begins(exchange.request());
        }
        exchange.connection().admission().enter(lasts, beginNanos);
        stream = lasts;
        admitted = true;
        CharSequence timeout = exchange.request().header(GrpcHeaders.TIMEOUT);
        long deadlineNanos;
        try {
            deadlineNanos = GrpcHeaders.deadlineNanos(timeout, beginNanos);
        } catch (NumberFormatException e) {
            throw new ApiException(Status.Code.INTERNAL, "malformed grpc-timeout: " + timeout);
        }
        if (deadlineNanos != Caller.NO_DEADLINE) {
            timer = exchange.connection().after(deadlineNanos - beginNanos, this::expire);
        }
        Caller caller = exchange.connection().caller(exchange.request(), deadlineNanos, this::over, this::whenOver);
        if (caller.principal() instanceof Principal.Token token && token.value().length() > SMALL_TOKEN) {
            exchange.holdHeaders(token.value().length());
        }
        return caller;
    }

    boolean over() {
        return over;
    }

    CallTrace trace() {
        return trace;
    }

    /** Not at its end, since data may then wait for the client. */
    private void whenOver(Runnable task) {
        if (closed) {
            task.run();
        } else {
            Runnable before = ended;
            ended = () -> {
                before.run();
                task.run();
            };
        }
    }

    void head(List<Field> fields) {
        head(GrpcHeaders.head(fields));
    }

    void head(Http2Headers headers) {
        headed = true;
        exchange.headers(headers, false);
    }

    boolean headed() {
        return headed;
    }

    /**
     * Sends the response of a unary call at the client's pace. Does nothing if the call is over. Rejects one beyond the
     * message limit.
     *
     * @param broken called if the message fails midway; the call has yet to be ended
     */
    void answer(Reply reply, Consumer<Throwable> broken) {
        if (over) {
            return;
        }
        long length = reply.body().length();
        if (length > Integer.MAX_VALUE - Framed.PREFIX_BYTES) {
            fail(
                    Status.Code.RESOURCE_EXHAUSTED,
                    "grpc: trying to send message larger than max (" + length + " vs. " + Integer.MAX_VALUE + ")");
            return;
        }
        if (reply.read() != null) {
            trace.answered(reply.read());
        }
        AnswerBody message = length == AnswerBody.UNKNOWN ? reply.body() : new Framed(reply.body(), (int) length);
        if (length != AnswerBody.UNKNOWN && message.length() <= JoinedFrames.SMALL_BYTES && exchange.answerable()) {
            answerWhole(reply.fields(), message, broken);
        } else {
            head(reply.fields());
            new BodyPump(exchange, message, false, this::succeed, broken).run();
        }
    }

    private void answerWhole(List<Field> fields, AnswerBody message, Consumer<Throwable> broken) {
        int length = (int) message.length();
        ByteBuf bytes = Unpooled.EMPTY_BUFFER;
        try {
            bytes = exchange.allocator().directBuffer(length);
            while (message.appendTo(bytes, length - bytes.readableBytes())) {
                // As long as there is more.
            }
        } catch (Throwable e) {
            // Errors too: without memory the client would wait forever.
            bytes.release();
            broken.accept(e);
            return;
        }
        headed = true;
        try {
            boolean unused = over(Status.Code.OK);
        } finally {
            // Even if a listener fails.
            exchange.answer(fields, bytes);
        }
    }

    /** Ends a call after its complete answer. */
    void succeed() {
        if (over(Status.Code.OK)) {
            exchange.headers(GrpcHeaders.ok(), true);
        }
    }

    /** Ends the call with an error, unless it is over. */
    void fail(Status.Code code, @Nullable String message) {
        end(code, message, new DefaultHttp2Headers(false));
    }

    /** Ends the call with additional trailers, unless it is over. */
    void end(Status.Code code, @Nullable String message, Http2Headers trailers) {
        if (over(code)) {
            if (!headed) {
                GrpcHeaders.begin(trailers);
            }
            exchange.headers(GrpcHeaders.with(trailers, code, message), true);
        }
    }

    /** The client has read the answer or has disconnected. */
    void closed() {
        boolean unused = over(Status.Code.CANCELLED);
        closed = true;
        ended.run();
    }

    private void expire() {
        if (!over) {
            if (headed && !exchange.writable()) {
                // Trailers would wait behind unread data.
                boolean unused = over(Status.Code.DEADLINE_EXCEEDED);
                exchange.cancel();
            } else {
                fail(Status.Code.DEADLINE_EXCEEDED, "context deadline exceeded");
            }
            overdue.run();
        }
    }

    /** Ends the call; returns true for the first call. */
    private boolean over(Status.Code code) {
        if (over) {
            return false;
        }
        over = true;
        if (admitted) {
            exchange.connection().admission().leave(stream);
        }
        if (timer != null) {
            timer.cancel(false);
        }
        exchange.releaseAll();
        outcomes.answered(code.name(), System.nanoTime() - beginNanos);
        trace.end(code.value());
        return true;
    }
}
