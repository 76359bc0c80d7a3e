package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.EmptyHttp2Headers;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.AsciiString;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.server.Exchange.RequestHead;
import io.understudy.gateway.server.Exchange.RequestReader;
import io.understudy.gateway.server.Exchange.Stall;
import io.understudy.gateway.server.Exchange.WaitingBody;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An HTTP/2 stream. Data for a closed one is dropped. */
final class Http2Exchange implements Exchange, RequestHead {

    private static final Logger LOG = LoggerFactory.getLogger(Http2Exchange.class);

    private final Http2Handler handler;
    private final Http2Stream stream;
    /** Empty once it is not needed: a stream may stay open for long. */
    private Http2Headers request;

    private @Nullable RequestReader reader;
    private @Nullable Runnable resume;
    private @Nullable Outflow outflow;
    private @Nullable WaitingBody waiting;
    private final Stall stall = new Stall();
    /** Bytes of headers that are held for it. */
    private int heldHeaders;
    /** Bytes held of its messages or body. */
    private int held;

    private final long beganNanos = System.nanoTime();
    /** Bytes of the answer that the client has not read yet. */
    private long pending;
    /** Bytes transferred in both directions. */
    private long moved;

    /** The bound on unsent bytes of {@link #whenPushable}; negative for {@link #whenWritable}. */
    private int resumeAt = -1;

    private boolean requestEnded;
    private boolean answered;
    private boolean closed;

    Http2Exchange(Http2Handler handler, Http2Stream stream, Http2Headers request) {
        this.handler = handler;
        this.stream = stream;
        this.request = request;
    }

    /** Sets the reader of the request's body. */
    void reader(RequestReader takes) {
        reader = takes;
    }

    int read(ByteBuf data, boolean end) {
        requestEnded |= end;
        moved += data.readableBytes();
        return reader == null ? data.readableBytes() : reader.read(data, end);
    }

    /** Releases the request's head, which is not read again. */
    void forgetHead() {
        request = EmptyHttp2Headers.INSTANCE;
    }

    /**
     * Counts bytes of headers as held until the stream ends.
     *
     * @throws ApiException if the connection's requests hold too much
     */
    void holdHeaders(int bytes) throws ApiException {
        connection().headers().take(bytes);
        heldHeaders += bytes;
    }

    @Override
    public void hold(int bytes) throws ApiException {
        // A part that was parsed until the stream had ended holds nothing of it.
        if (bytes != held && !closed) {
            releaseAll();
            connection().messages().take(bytes);
            held = bytes;
        }
    }

    /** Fewer bytes of its messages are held. */
    void release(int bytes) {
        int less = Math.min(bytes, held);
        if (less > 0) {
            connection().messages().giveBack(less);
            held -= less;
        }
    }

    @Override
    public Runnable handOverHeld() {
        int bytes = held;
        held = 0;
        return () -> connection().messages().giveBack(bytes);
    }

    @Override
    public void releaseAll() {
        release(held);
    }

    void closed() {
        closed = true;
        waitsWith(null, false);
        connection().headers().giveBack(heldHeaders);
        heldHeaders = 0;
        releaseAll();
        forgetResume();
        if (outflow != null) {
            outflow.drop();
        }
        if (reader != null) {
            reader.closed();
        }
    }

    /** Drops a waiting task, which may hold a replica's state, once nothing remains to write. */
    private void forgetResume() {
        if (resume != null) {
            resume = null;
            handler.forget(this);
        }
    }

    /** The answer is complete. */
    private void answered() {
        answered = true;
        waitsWith(null, false);
        forgetResume();
    }

    Http2Stream stream() {
        return stream;
    }

    @Override
    public ClientConnection connection() {
        return handler.client();
    }

    @Override
    public RequestHead request() {
        return this;
    }

    Http2Headers requestHeaders() {
        return request;
    }

    @Override
    public CharSequence method() {
        return request.method() == null ? "" : request.method();
    }

    @Override
    public CharSequence target() {
        return request.path() == null ? "" : request.path();
    }

    @Override
    public @Nullable CharSequence header(AsciiString name) {
        return request.get(name);
    }

    @Override
    public List<String> headers(AsciiString name) {
        return request.getAll(name).stream().map(CharSequence::toString).toList();
    }

    @Override
    public ByteBufAllocator allocator() {
        return handler.allocator();
    }

    @Override
    public boolean writable() {
        return !closed && !answered && handler.writable(stream);
    }

    @Override
    public void whenWritable(Runnable runnable) {
        if (!closed && !answered) {
            resumeAt = -1;
            resume = runnable;
            handler.await(this);
        }
    }

    @Override
    public void waitsWith(@Nullable AnswerBody body, boolean moved) {
        if (waiting == null && body != null) {
            waiting = new WaitingBody(connection().loop());
        }
        if (waiting != null) {
            waiting.become(closed || answered ? null : body, moved, this::exceeded);
        }
    }

    /** Ends the stream, since slow clients keep too much memory. Clients of etcd resume watches after such an end. */
    private void exceeded() {
        reset(outflow == null ? Http2Error.ENHANCE_YOUR_CALM : Http2Error.INTERNAL_ERROR);
    }

    /** Runs the waiting task if the client reads again. */
    void resume() {
        Runnable waiting = resume;
        if (waiting != null) {
            if (resumeAt < 0 ? writable() : pushable(resumeAt)) {
                resume = null;
                waiting.run();
            } else {
                awaitRoom();
            }
        }
    }

    /** Writes and releases the next part of an endless body. Data beyond the window is held without a time limit. */
    void push(ByteBuf data) {
        if (closed || answered) {
            data.release();
        } else {
            outflow().push(data);
        }
    }

    /** As {@link #push(ByteBuf)}, for data that is encoded as the client reads. */
    void push(AnswerBody body) {
        if (!closed && !answered) {
            outflow().push(body);
        }
    }

    private Outflow outflow() {
        if (outflow == null) {
            outflow = new Outflow(this, handler);
        }
        return outflow;
    }

    /** All pushed data was written to the connection. */
    void drained() {
        if (resume != null) {
            awaitRoom();
            // The last data may have been sent already.
            handler.resumeSoon();
        }
    }

    /** Whether the window is open and less than {@code bytes} of pushed data wait. */
    boolean pushable(int bytes) {
        if (outflow != null && outflow.handedBytes() >= bytes) {
            // Data written since the last flush does not wait if the client reads.
            handler.writePending();
        }
        return !closed
                && !answered
                && handler.pushable(freeBytes())
                && (outflow == null || outflow.handedBytes() < bytes);
    }

    private long freeBytes() {
        return outflow == null ? handler.window(stream) : outflow.freeBytes();
    }

    /** Runs {@code runnable} once when {@link #pushable} may be true again, unless the stream ends before. */
    void whenPushable(int bytes, Runnable runnable) {
        if (!closed && !answered) {
            resumeAt = bytes;
            resume = runnable;
            awaitRoom();
        }
    }

    private void awaitRoom() {
        // Otherwise a window update resumes it: thousands of streams may wait so, and for long.
        if (resumeAt < 0 || freeBytes() > 0) {
            handler.await(this);
        }
    }

    /** Bytes of pushed data were written or dropped. */
    void pushed(int bytes) {
        if (outflow != null) {
            outflow.went(bytes);
        }
        handler.pushed(bytes);
    }

    /** The client has enlarged the stream's window. */
    void windowGrew() {
        if (!closed) {
            if (outflow != null) {
                outflow.drain();
            }
            if (resume != null) {
                awaitRoom();
            }
        }
    }

    @Override
    public boolean duplex() {
        return true;
    }

    @Override
    public void consumed(int bytes) {
        if (!closed) {
            handler.consumed(stream, bytes);
        }
    }

    @Override
    public void head(int status, List<Field> fields, long length) {
        Http2Headers head = new DefaultHttp2Headers(false, 2 + fields.size()).status(Integer.toString(status));
        for (Field field : fields) {
            head.add(field.name(), field.value());
        }
        if (length >= 0 && status != HttpResponseStatus.NOT_MODIFIED.code()) {
            head.set("content-length", Long.toString(length));
        }
        // The answer to HEAD has no body.
        headers(head, length == 0 || HttpMethod.HEAD.asciiName().contentEquals(method()));
    }

    /** Writes headers or trailers. A message that was written in part ends the stream without them. */
    void headers(Http2Headers headers, boolean end) {
        if (end && outflow != null && outflow.isMidBody()) {
            abort();
        } else if (!closed && !answered) {
            if (end) {
                writeHeld();
                answered();
            }
            // The rest of the request is of no use after the answer.
            handler.write(stream, headers, end, end && !requestEnded);
        }
    }

    /** Writes held data before the end of the answer. From now on the stall timeout applies to it. */
    private void writeHeld() {
        if (outflow != null) {
            outflow.takeData().forEach(data -> body(data, false));
        }
    }

    @Override
    public void body(ByteBuf data, boolean end) {
        if (closed || answered) {
            data.release();
        } else {
            if (end) {
                answered();
            }
            pending += data.readableBytes();
            handler.write(this, data, end, end && !requestEnded);
        }
    }

    @Override
    public void abort() {
        reset(Http2Error.INTERNAL_ERROR);
    }

    void taken(int bytes) {
        pending -= bytes;
        moved += bytes;
    }

    /** Whether {@link #answer} may be called. */
    boolean answerable() {
        return requestEnded && writable();
    }

    /** Writes a whole answer with status OK, and releases the message: {@link JoinedFrames#SMALL_BYTES} at most. */
    void answer(List<Field> fields, ByteBuf message) {
        answered();
        pending += message.readableBytes();
        handler.write(this, fields, message);
    }

    /** The whole answer was written to the socket, or dropped. */
    void went(ChannelFuture written) {
        lost();
        handler.closeStreamLocal(stream, written);
    }

    /** The whole answer could not be written. */
    void failed(Throwable why) {
        lost();
        broken(why);
    }

    /** Resets the stream, since the response has a gap: the client has to retry. */
    void broken(Throwable why) {
        // Also called when a stream ends, just before its notification.
        if (stream.state() != Http2Stream.State.CLOSED) {
            answered();
            LOG.atError().addKeyValue("target", target()).setCause(why).log("writing a response failed");
            handler.reset(stream, Http2Error.INTERNAL_ERROR);
        }
    }

    /** Discards the rest of the answer. */
    private void lost() {
        int bytes = (int) pending;
        taken(bytes);
        handler.taken(bytes);
    }

    /** Resets the stream if the client stalls. */
    void check(Duration requestTimeout) {
        boolean arrives = !requestEnded && !answered && reader != null && !reader.lastsOpen();
        boolean waits = pending > 0 || arrives || (resume != null && resumeAt < 0 && handler.windowIsFull(stream));
        if (stall.lasts(waits, moved) || (arrives && System.nanoTime() - beganNanos > requestTimeout.toNanos())) {
            answered();
            handler.reset(stream, Http2Error.CANCEL);
        }
    }

    /** Cancels the answer. */
    void cancel() {
        reset(Http2Error.CANCEL);
    }

    private void reset(Http2Error why) {
        if (!closed && !answered) {
            answered();
            handler.reset(stream, why);
        }
    }
}
