package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.server.Exchange.Stall;
import io.understudy.gateway.server.Loads.LoadMetrics.Closure;
import io.understudy.gateway.server.ServerLimits.ConnectionTimeouts;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** An HTTP/1.1 connection, behind Netty's codec. Requests are answered in order, one at a time. */
final class Http1Handler extends ChannelInboundHandlerAdapter {

    private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final DefaultHttpHeadersFactory HEADERS =
            DefaultHttpHeadersFactory.headersFactory().withValidation(false);

    private static final byte[] CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    /** Size of the messages read ahead of an answer above which reading pauses. */
    private static final int MAX_AHEAD_BYTES = 64 << 10;

    private final ClientConnection client;
    private final Requests requests;
    private final int maxHeaders;
    private final ConnectionTimeouts timeouts;
    private long calmNanos = System.nanoTime();
    private long busyNanos = calmNanos;
    private final Queue<Object> ahead = new ArrayDeque<>();
    /** Size of the messages that waited since {@link #ahead} was empty. */
    private int aheadBytes;
    /** Held bytes of the heads of requests until their answers end. */
    private int heldHeads;

    private @Nullable ChannelHandlerContext context;
    private @Nullable Http1Exchange current;
    /** The head of the answer, until the first part of its body. */
    private @Nullable HttpHeaders head;

    private HttpResponseStatus status = HttpResponseStatus.OK;
    private final Stall stall = new Stall();
    /** Parts of requests that have arrived. */
    private long parts;
    /** Whether any bytes were read. */
    private boolean received;
    /** Whether bytes have arrived since the last complete part. */
    private boolean partial;

    private boolean whole;

    private boolean working;
    private boolean reading;
    private boolean flushComes;
    private boolean lastRequest;

    Http1Handler(ClientConnection client, Requests requests, ServerLimits limits) {
        this.client = client;
        this.requests = requests;
        this.maxHeaders = limits.frames().maxHeaders();
        this.timeouts = limits.timeouts();
    }

    ClientConnection client() {
        return client;
    }

    ByteBufAllocator allocator() {
        return context().alloc();
    }

    boolean writable() {
        return context().channel().isWritable();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    /** Bytes have arrived; decoded messages follow in {@link #channelRead}. */
    void received() {
        received = true;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        reading = true;
        client.admission().reading();
        parts++;
        whole = true;
        if (message instanceof HttpRequest request) {
            holdHead(request);
        }
        ahead.add(message);
        work();
        if (!ahead.isEmpty()) {
            aheadBytes += HeldBytes.sizeOfMessage(message);
            if (aheadBytes > MAX_AHEAD_BYTES) {
                ctx.channel().config().setAutoRead(false);
            }
        }
    }

    /** Counts a head as held. Empties one beyond a limit, since many requests may be ahead of the answer. */
    private void holdHead(HttpRequest request) {
        Exception refusal;
        if (request.headers().size() > maxHeaders) {
            refusal = new TooLongHttpHeaderException("more than " + maxHeaders + " header fields (limits.maxHeaders)");
        } else {
            try {
                int bytes = HeldBytes.sizeOfMessage(request);
                client.headers().take(bytes);
                heldHeads += bytes;
                return;
            } catch (ApiException e) {
                refusal = e;
            }
        }
        request.setUri("/");
        request.headers().clear();
        request.setDecoderResult(DecoderResult.failure(refusal));
    }

    private void releaseHeads(int bytes) {
        client.headers().giveBack(bytes);
        heldHeads -= bytes;
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        reading = false;
        if (received) {
            partial = !whole;
            whole = false;
            received = false;
        }
        ctx.flush();
        ctx.fireChannelReadComplete();
    }

    /** Handles messages until one has to wait. */
    private void work() {
        if (working) {
            return;
        }
        working = true;
        try {
            while (!ahead.isEmpty() && !waits()) {
                Object next = ahead.remove();
                try {
                    take(next);
                } finally {
                    ReferenceCountUtil.release(next);
                }
            }
        } finally {
            working = false;
        }
        if (ahead.isEmpty() && aheadBytes > 0) {
            aheadBytes = 0;
            context().channel().config().setAutoRead(true);
        }
    }

    /** Whether the next message has to wait: for the answer of a request, or until the client reads those before. */
    private boolean waits() {
        return current == null ? !lastRequest && !writable() : current.requestEnded();
    }

    private void take(Object part) {
        if (lastRequest && current == null) {
            return;
        }
        if (part instanceof HttpRequest request) {
            HttpResponseStatus refusal = refusal(request, requests.rawPaths());
            if (refusal != null) {
                refuse(refusal);
                return;
            }
            if (HttpUtil.is100ContinueExpected(request)) {
                // Bypasses the codec, which would count it as the answer.
                ChannelFuture unused =
                        context().pipeline().context(HttpServerCodec.class).write(Unpooled.wrappedBuffer(CONTINUE));
                flushSoon();
            }
            lastRequest |= client.requested();
            String target = Objects.requireNonNull(HttpHeadRules.origin(request.method(), request.uri()));
            Http1Exchange exchange = new Http1Exchange(this, request, target);
            current = exchange;
            exchange.reader(requests.web(exchange));
        }
        if (part instanceof HttpContent content && current != null) {
            if (content.decoderResult().isFailure()) {
                close();
            } else {
                current.read(content.content(), content instanceof LastHttpContent);
            }
        }
    }

    private static @Nullable HttpResponseStatus refusal(HttpRequest request, boolean rawPath) {
        HttpResponseStatus refusal = HttpHeadRules.refusal(request, rawPath);
        if (request.decoderResult().isSuccess()) {
            return refusal;
        }
        if (request.decoderResult().cause() instanceof TooLongHttpHeaderException) {
            return HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE;
        }
        if (request.decoderResult().cause() instanceof ApiException) {
            return HttpResponseStatus.TOO_MANY_REQUESTS;
        }
        return HttpResponseStatus.NOT_IMPLEMENTED.equals(refusal) ? refusal : HttpResponseStatus.BAD_REQUEST;
    }

    private void refuse(HttpResponseStatus why) {
        lastRequest = true;
        DefaultFullHttpResponse refusal = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, why, Unpooled.EMPTY_BUFFER);
        refusal.headers()
                .set(HttpHeaderNames.CONTENT_LENGTH, 0)
                .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        closeAfter(context().writeAndFlush(refusal), false);
    }

    /**
     * Closes after an answer. While the client still sends its request, a close would reset the connection, by which it
     * could lose the answer: so only the output is closed at first, as by Go's server.
     */
    private void closeAfter(ChannelFuture answer, boolean requestEnded) {
        answer.addListener(written -> {
            SslHandler tls = context().pipeline().get(SslHandler.class);
            if (requestEnded || !written.isSuccess() || !(context().channel() instanceof DuplexChannel duplex)) {
                close();
                return;
            }
            ChannelFuture unused = tls == null ? duplex.shutdownOutput() : tls.closeOutbound();
            ScheduledFuture<?> unusedTimer = client.after(LINGER_NANOS, this::close);
        });
    }

    void head(Http1Exchange exchange, int code, List<Field> fields, long length) {
        status = HttpResponseStatus.valueOf(code);
        HttpHeaders headers = HEADERS.newHeaders();
        head = headers;
        for (Field field : fields) {
            headers.add(field.name(), field.value());
        }
        HttpRequest request = exchange.head();
        if (code == HttpResponseStatus.NOT_MODIFIED.code()) {
            // Its length would be that of the body that is not sent.
        } else if (length >= 0) {
            headers.set(HttpHeaderNames.CONTENT_LENGTH, Long.toString(length));
        } else if (request.protocolVersion().isKeepAliveDefault()) {
            headers.set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
        } else {
            lastRequest = true;
        }
        if (!HttpUtil.isKeepAlive(request) || !exchange.requestEnded()) {
            lastRequest = true;
        }
        if (lastRequest) {
            headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        } else if (!request.protocolVersion().isKeepAliveDefault()) {
            headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
        }
        if (length == 0) {
            body(exchange, Unpooled.EMPTY_BUFFER, true);
        } else if (length < 0) {
            // The first part may take a while.
            send(new DefaultHttpResponse(HttpVersion.HTTP_1_1, status, headers));
            head = null;
            flushSoon();
        }
    }

    void body(Http1Exchange exchange, ByteBuf data, boolean end) {
        HttpHeaders pending = head;
        head = null;
        if (pending != null && end) {
            send(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, data, pending, HEADERS.newEmptyHeaders()));
        } else {
            if (pending != null) {
                send(new DefaultHttpResponse(HttpVersion.HTTP_1_1, status, pending));
            }
            send(end ? new DefaultLastHttpContent(data) : new DefaultHttpContent(data));
        }
        if (end) {
            boolean requestEnded = exchange.requestEnded();
            current = null;
            exchange.closed();
            releaseHeads(HeldBytes.sizeOfMessage(exchange.head()));
            if (lastRequest) {
                closeAfter(context().writeAndFlush(Unpooled.EMPTY_BUFFER), requestEnded);
            } else {
                work();
            }
        }
        flushSoon();
    }

    private void send(Object part) {
        ChannelFuture unused = context().write(part);
    }

    private void flushSoon() {
        if (!reading && !flushComes) {
            flushComes = true;
            context().executor().execute(() -> {
                flushComes = false;
                context().flush();
            });
        }
    }

    /** Closes the connection if the client stalls. */
    void check() {
        ChannelOutboundBuffer unread = context().channel().unsafe().outboundBuffer();
        long bytes = unread == null ? 0 : unread.totalPendingWriteBytes();
        long progress = unread == null ? 0 : unread.currentProgress();
        boolean midRequest = current == null ? partial || parts == 0 : !current.requestEnded();
        long now = System.nanoTime();
        if (!midRequest) {
            calmNanos = now;
        }
        if (midRequest || current != null || bytes > 0) {
            busyNanos = now;
        }
        if (stall.lasts(bytes > 0 || midRequest, parts + bytes - progress)
                || now - calmNanos > timeouts.requestTimeout().toNanos()) {
            client.closed(Closure.STALL);
            close();
        } else if (timeouts.idleTimeout() != null
                && now - busyNanos > timeouts.idleTimeout().toNanos()) {
            client.closed(Closure.IDLE);
            close();
        }
    }

    /** Closes after the answer to the request in flight. */
    void shutDown() {
        lastRequest = true;
        if (current == null) {
            close();
        }
    }

    void close() {
        ChannelFuture unused = context().close();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (ctx.channel().isWritable() && (current != null || !ahead.isEmpty())) {
            client.loop().execute(() -> {
                if (current == null) {
                    work();
                } else if (writable()) {
                    current.resume();
                }
            });
        }
        ctx.fireChannelWritabilityChanged();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        Http1Exchange left = current;
        current = null;
        lastRequest = true;
        if (left != null) {
            left.closed();
        }
        ahead.forEach(ReferenceCountUtil::release);
        ahead.clear();
        releaseHeads(heldHeads);
        ctx.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        // Failures caused by the client are not errors; channelInactive ends requests in flight.
        ChannelFuture unused = ctx.close();
    }

    private ChannelHandlerContext context() {
        if (context == null) {
            throw new IllegalStateException("not added to a pipeline");
        }
        return context;
    }
}
