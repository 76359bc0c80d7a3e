package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.util.AsciiString;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.server.Exchange.RequestHead;
import io.understudy.gateway.server.Exchange.RequestReader;
import io.understudy.gateway.server.Exchange.WaitingBody;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** An HTTP/1.1 request and its answer. Writes after a disconnect are dropped. */
final class Http1Exchange implements Exchange, RequestHead {

    private final Http1Handler handler;
    private final HttpRequest request;
    private final String target;
    private final WaitingBody waiting;
    private @Nullable RequestReader reader;
    private @Nullable Runnable resume;
    /** Bytes held of its body. */
    private int held;

    private boolean requestEnded;
    private boolean answered;
    private boolean closed;

    /** @param target path and query */
    Http1Exchange(Http1Handler handler, HttpRequest request, String target) {
        this.handler = handler;
        this.request = request;
        this.target = target;
        this.waiting = new WaitingBody(handler.client().loop());
    }

    void reader(RequestReader takes) {
        reader = takes;
    }

    void read(ByteBuf data, boolean end) {
        requestEnded |= end;
        int unused = Objects.requireNonNull(reader).read(data, end);
    }

    boolean requestEnded() {
        return requestEnded;
    }

    void closed() {
        answered = true;
        closed = true;
        releaseAll();
        waitsWith(null, false);
        resume = null;
        if (reader != null) {
            reader.closed();
        }
    }

    void resume() {
        Runnable waiting = resume;
        if (waiting != null) {
            resume = null;
            waiting.run();
        }
    }

    HttpRequest head() {
        return request;
    }

    @Override
    public ClientConnection connection() {
        return handler.client();
    }

    @Override
    public RequestHead request() {
        return this;
    }

    @Override
    public CharSequence method() {
        return request.method().asciiName();
    }

    @Override
    public CharSequence target() {
        return target;
    }

    @Override
    public @Nullable CharSequence header(AsciiString name) {
        return request.headers().get(name);
    }

    @Override
    public List<String> headers(AsciiString name) {
        return request.headers().getAll(name);
    }

    @Override
    public ByteBufAllocator allocator() {
        return handler.allocator();
    }

    @Override
    public void hold(int bytes) throws ApiException {
        if (bytes != held && !closed) {
            releaseAll();
            connection().messages().take(bytes);
            held = bytes;
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
        connection().messages().giveBack(held);
        held = 0;
    }

    @Override
    public boolean writable() {
        return !answered && handler.writable();
    }

    @Override
    public void whenWritable(Runnable runnable) {
        if (!answered) {
            resume = runnable;
        }
    }

    @Override
    public void waitsWith(@Nullable AnswerBody body, boolean moved) {
        waiting.become(closed ? null : body, moved, this::abort);
    }

    @Override
    public void head(int status, List<Field> fields, long length) {
        if (!answered) {
            answered = length == 0;
            handler.head(this, status, fields, length);
        }
    }

    @Override
    public void body(ByteBuf data, boolean end) {
        if (answered) {
            data.release();
        } else {
            answered = end;
            handler.body(this, data, end);
        }
    }

    @Override
    public void abort() {
        if (!answered) {
            handler.close();
        }
    }
}
