package io.understudy.gateway.server;

import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.EventExecutor;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.server.Exchange.BodyPump;
import io.understudy.gateway.server.Exchange.RequestReader;
import io.understudy.gateway.server.WebHandler.BodyReader;
import io.understudy.gateway.server.WebHandler.WebCalls;
import io.understudy.gateway.trace.CallTrace.Carrier;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A plain HTTP request and its response, over HTTP/1.1 or HTTP/2. Confined to its event loop. Only the first response
 * is sent, unless the client has disconnected. Handlers receive it complete, or with its body in parts.
 */
public final class WebRequest implements RequestReader, Carrier {

    private static final Logger LOG = LoggerFactory.getLogger(WebRequest.class);

    private static final String TEXT = "text/plain; charset=utf-8";
    private static final AsciiString CONTENT_TYPE = AsciiString.cached("content-type");
    private static final byte[] NOTHING = {};

    /** Fields of every answer, as by default in etcd ({@code embed/serve.go}). */
    static final List<Field> CORS = List.of(
            new Field("access-control-allow-headers", "accept, content-type, authorization"),
            new Field("access-control-allow-methods", "POST, GET, OPTIONS, PUT, DELETE"),
            new Field("access-control-allow-origin", "*"));

    private static final int FIRST_PIECE_BYTES = 1 << 10;

    /** Maximum size of JSON relative to its message: base64 adds a third, names more. */
    private static final int BODY_FACTOR = 2;

    private final Exchange exchange;
    private final String path;
    private final WebHandler handler;
    private final long maxBytes;
    private final long arrivedNanos = System.nanoTime();
    /** Whether the body is read as it arrives. */
    private final boolean parts;

    private @Nullable BodyReader reader;
    private byte[] body = NOTHING;
    private @Nullable ByteBuf arriving;
    private @Nullable Runnable gone;
    private Runnable ended = () -> {};
    private boolean answered;
    private boolean over;
    private boolean lasts;
    private boolean admitted;

    WebRequest(Exchange exchange, String path, WebHandler handler, long maxMessageBytes) {
        this.exchange = exchange;
        this.path = path;
        this.handler = handler;
        this.maxBytes = maxMessageBytes * BODY_FACTOR;
        this.parts = exchange.duplex() && handler instanceof WebCalls calls && calls.streamsRequests(path);
    }

    @Override
    public boolean lastsOpen() {
        return reader != null;
    }

    @Override
    public int read(ByteBuf data, boolean end) {
        return parts ? readPart(data, end) : readAll(data, end);
    }

    private int readPart(ByteBuf data, boolean end) {
        if (!admitted && !answered) {
            handle();
        }
        if (over || reader == null) {
            return data.readableBytes();
        }
        try {
            reader.read(data, end);
        } catch (RuntimeException e) {
            // A thrown exception would end the connection.
            logFailure("request failed", e);
            reader.refuse(new ApiException(Status.Code.INTERNAL, "understudy: " + e));
        }
        return 0;
    }

    /** Passes the body to {@code reader}: in parts if it may stay open, else whole. */
    public void readBody(BodyReader taker) {
        if (parts) {
            reader = taker;
        } else {
            taker.read(Unpooled.wrappedBuffer(body), true);
        }
    }

    /** Returns bytes of a body in parts to the client's window. */
    public void consumed(int bytes) {
        if (parts) {
            exchange.consumed(bytes);
        }
    }

    private int readAll(ByteBuf data, boolean end) {
        int bytes = data.readableBytes();
        if (answered) {
            return bytes;
        }
        if (body.length + (arriving == null ? 0L : arriving.readableBytes()) + bytes > maxBytes) {
            if (handler instanceof WebCalls calls) {
                calls.refuseTooLarge(this, maxBytes);
            } else {
                answer(413, TEXT, "request body larger than " + maxBytes + " bytes\n");
            }
        } else if (end && arriving == null) {
            if (bytes > 0) {
                keep(bytes);
                body = answered ? NOTHING : ByteBufUtil.getBytes(data);
            }
            if (!answered) {
                handle();
            }
        } else {
            if (arriving == null) {
                arriving = Unpooled.buffer(2 * bytes);
            }
            arriving.writeBytes(data, data.readerIndex(), bytes);
            keep(arriving.readableBytes());
            if (end && !answered) {
                body = ByteBufUtil.getBytes(arriving);
                arriving = null;
                handle();
            }
        }
        return bytes;
    }

    /** Counts the bytes that are held of the body, and fails the request if requests hold too much. */
    public void keep(int bytes) {
        try {
            exchange.hold(bytes);
        } catch (ApiException e) {
            arriving = null;
            if (reader != null) {
                reader.refuse(e);
            } else if (handler instanceof WebCalls calls) {
                calls.refuse(this, e);
            } else {
                answer(429, TEXT, e.text() + "\n");
            }
        }
    }

    /** Counts the body as held until {@code work} ends, which has the request even if the client has gone. */
    public void holdUntil(Future<?> work) {
        exchange.holdUntil(work);
    }

    private void handle() {
        try {
            if (method().equals("OPTIONS") && !handler.fields().isEmpty()) {
                preflight();
            } else if (handler instanceof WebCalls calls) {
                admit(calls);
            } else {
                // Health pages are needed most under overload.
                handler.handle(this);
            }
        } catch (RuntimeException e) {
            logFailure("request failed", e);
            answer(500, TEXT, "Internal Server Error\n");
        }
    }

    /** Answers for any path, as in etcd. */
    private void preflight() {
        answered = true;
        exchange.head(200, handler.fields(), 0);
        taken();
    }

    private void admit(WebCalls calls) {
        try {
            lasts = calls.lasts(this);
            exchange.connection().admission().enter(lasts, System.nanoTime());
            admitted = true;
        } catch (ApiException e) {
            calls.refuse(this, e);
            return;
        }
        calls.handle(this);
    }

    private void leave() {
        if (admitted) {
            admitted = false;
            exchange.connection().admission().leave(lasts);
        }
    }

    @Override
    public void closed() {
        boolean early = !over;
        over = true;
        answered = true;
        leave();
        if (early && gone != null) {
            gone.run();
        }
        runEnded();
    }

    private void runEnded() {
        Runnable tasks = ended;
        ended = () -> {};
        tasks.run();
    }

    /** The method, such as {@code GET}. */
    public String method() {
        return exchange.request().method().toString();
    }

    /** The decoded path without the query. */
    public String path() {
        return path;
    }

    /** Parameters behind the path, decoded; in the order sent. */
    public Map<String, List<String>> query() {
        try {
            return new QueryStringDecoder(exchange.request().target().toString()).parameters();
        } catch (IllegalArgumentException e) {
            // Broken escapes; etcd ignores the parameters that have them.
            return Map.of();
        }
    }

    @Override
    public @Nullable CharSequence header(AsciiString name) {
        return exchange.request().header(name);
    }

    /** Returns all values of a field; {@code name} is in lower case. */
    public List<String> headers(AsciiString name) {
        return exchange.request().headers(name);
    }

    /** The query as sent; null for none. */
    public @Nullable String rawQuery() {
        String target = exchange.request().target().toString();
        int query = target.indexOf('?');
        return query < 0 ? null : target.substring(query + 1);
    }

    /** Returns the whole body; empty if it is read in parts. */
    public byte[] body() {
        return body;
    }

    public Session session() {
        return exchange.connection().session();
    }

    /** The client's name for limits. */
    public String client() {
        return exchange.connection().client();
    }

    /**
     * Returns the caller, by headers with the names of grpc-gateway.
     *
     * @throws ApiException for an invalid header
     */
    public Caller caller(BooleanSupplier gone) throws ApiException {
        return exchange.connection().webCaller(exchange.request(), arrivedNanos, gone, this::whenOver);
    }

    /** The identity by the connection's certificate. */
    public Principal peer() {
        return exchange.connection().peer();
    }

    /** The event loop of the connection. */
    public Executor loop() {
        return exchange.connection().loop();
    }

    /** The event loop of the connection, as Netty's type. */
    public EventExecutor eventLoop() {
        return exchange.connection().eventLoop();
    }

    /** The arrival, by {@link System#nanoTime}. */
    public long arrivedNanos() {
        return arrivedNanos;
    }

    /** Runs {@code task} if the client disconnects before the answer. */
    public void whenGone(Runnable task) {
        gone = task;
    }

    /** Runs {@code task} once, when the client has read the response or has disconnected. At once if so already. */
    public void whenOver(Runnable task) {
        if (over) {
            task.run();
        } else {
            Runnable before = ended;
            ended = () -> {
                before.run();
                task.run();
            };
        }
    }

    /** Returns a body of these bytes, which count as held while they wait for a client that reads slowly. */
    public AnswerBody held(byte[] answer) {
        return exchange.connection().messages().body(answer);
    }

    /** Answers. A large body of unknown length is sent in chunks. */
    public void answer(int status, @Nullable String contentType, List<Field> fields, AnswerBody answer) {
        if (!answered) {
            answered = true;
            body = NOTHING;
            exchange.releaseAll();
            List<Field> head = head(contentType, fields);
            // A client that does not read has none of its answers encoded.
            if (answer.length() == AnswerBody.UNKNOWN && exchange.writable()) {
                ByteBuf first = Unpooled.EMPTY_BUFFER;
                try {
                    first = exchange.allocator().directBuffer(FIRST_PIECE_BYTES);
                    over = !answer.appendTo(first, Exchange.PIECE_BYTES);
                } catch (Throwable e) {
                    // Errors too: no caller above reports them.
                    first.release();
                    logFailure("request failed", e);
                    answered = false;
                    answer(500, TEXT, "Internal Server Error\n");
                    return;
                }
                exchange.head(status, head, over ? first.readableBytes() : AnswerBody.UNKNOWN);
                exchange.body(first, over);
            } else {
                exchange.head(status, head, answer.length());
                over = answer.length() == 0;
            }
            if (over) {
                taken();
            } else {
                new BodyPump(exchange, answer, true, this::taken, this::broken).run();
            }
        }
    }

    public void answer(int status, String contentType, String text) {
        answer(status, contentType, List.of(), AnswerBody.of(text));
    }

    private void taken() {
        over = true;
        leave();
        runEnded();
    }

    /** Answers with a stream; {@link #whenGone} applies until its end. Null if already answered. */
    public @Nullable WebStream stream() {
        if (answered) {
            return null;
        }
        answered = true;
        return new WebStream(exchange, handler.fields(), () -> {
            over = true;
            leave();
        });
    }

    private void logFailure(String event, Throwable why) {
        // A raw path contains a key.
        boolean shown = !(handler instanceof WebCalls calls && calls.rawPaths());
        LOG.atError()
                .addKeyValue("method", method())
                .addKeyValue("path", shown ? path : "")
                .setCause(why)
                .log(event);
    }

    /** Aborts the answer, since it is too late for another status. */
    private void broken(Throwable why) {
        logFailure("response failed", why);
        exchange.abort();
    }

    private List<Field> head(@Nullable String contentType, List<Field> fields) {
        List<Field> head = new ArrayList<>(fields.size() + handler.fields().size() + 1);
        if (contentType != null) {
            head.add(new Field(CONTENT_TYPE, contentType));
        }
        head.addAll(fields);
        head.addAll(handler.fields());
        return head;
    }
}
