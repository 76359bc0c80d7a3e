package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionAdapter;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import io.understudy.gateway.server.LoadMetrics.Closure;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A connection that speaks HTTP/2. Answers to what arrived together leave together: there is one flush after each read,
 * and one for all that is written later in the same turn of the loop.
 */
final class Http2Handler extends Http2ConnectionHandler {

    /** A window with room for this is that of a client which reads: its own default is four times as much. */
    private static final int OPEN_BYTES = 16 << 10;

    /** What streams may hold together, in terms of what answers may have unread, before they need an open window. */
    private static final int HELD_SHARE = 4;

    /** As {@link #HELD_SHARE}, before all of them have to wait: dozens may each hold a large batch, and others continue. */
    private static final int MOST_HELD_SHARE = 64;

    private final Http2Connection.PropertyKey exchangeKey = connection().newKey();
    /** For their client to take more, in the order of their turns. */
    private final Set<Http2Exchange> waiting = new LinkedHashSet<>();

    private final ClientConnection client;
    private final JoinedFrames joined = new JoinedFrames();
    private final AnswerFrames answers = new AnswerFrames(this, joined);
    private @Nullable ChannelHandlerContext context;
    private final int maxUnreadBytes;
    private final ReceivedFrames received;
    private final Http2Check check;
    private long unwritten;
    /** Bytes of answers that the client's windows or the socket haven't let go. */
    private long pending;
    /** Bytes of answers that went. */
    private long taken;
    /** Bytes of pushed data that wait for the connection's window, or the socket. */
    private long pushing;
    /** Bytes of pushed data that the socket's queue was given. */
    private long pushed;

    /** Bytes of pushed data that wait for the windows of their streams. */
    private long held;

    private boolean reading;
    private boolean flushComes;
    private boolean resumptionComes;

    Http2Handler(
            Http2ConnectionDecoder decoder,
            Http2ConnectionEncoder encoder,
            Http2Settings settings,
            ClientConnection client,
            ServerLimits limits) {
        super(decoder, encoder, settings);
        this.client = client;
        this.maxUnreadBytes = limits.maxUnreadBytes();
        this.received = new ReceivedFrames(limits, connection()::numActiveStreams, this::end);
        this.check = new Http2Check(this, limits.patience(), received);
        connection().addListener(new Http2ConnectionAdapter() {
            @Override
            public void onStreamClosed(Http2Stream stream) {
                Http2Exchange exchange = exchange(stream);
                if (exchange != null) {
                    exchange.closed();
                }
            }
        });
    }

    ClientConnection client() {
        return client;
    }

    @Nullable Http2Exchange exchange(@Nullable Http2Stream stream) {
        return stream == null ? null : stream.getProperty(exchangeKey);
    }

    Http2Exchange open(Http2Stream stream, Http2Headers request) {
        Http2Exchange exchange = new Http2Exchange(this, stream, request);
        stream.setProperty(exchangeKey, exchange);
        return exchange;
    }

    ByteBufAllocator allocator() {
        return context().alloc();
    }

    /** Whether neither the client's windows nor the socket's queue are full, nor what waits for either is too much. */
    boolean writable(Http2Stream stream) {
        return pending < maxUnreadBytes && encoder().flowController().isWritable(stream);
    }

    /** What the client's window for that stream has room for. */
    int window(Http2Stream stream) {
        return encoder().flowController().windowSize(stream);
    }

    /**
     * Whether the connection has room for pushed data, and a stream with {@code free} bytes in its window may hold more than
     * those.
     */
    boolean pushable(long free) {
        return pushing < maxUnreadBytes
                && context().channel().isWritable()
                && free > 0
                && held < (long) maxUnreadBytes * (free < OPEN_BYTES ? HELD_SHARE : MOST_HELD_SHARE);
    }

    /** Streams hold as many bytes more. */
    void held(long bytes) {
        boolean much = held >= (long) maxUnreadBytes * HELD_SHARE;
        held += bytes;
        if (much && bytes < 0) {
            resumeSoon();
        }
    }

    /** Writes data that the stream's window has room for, and takes it over. */
    void push(Http2Exchange exchange, ByteBuf data) {
        pushing += data.readableBytes();
        unwritten += data.readableBytes();
        encoder()
                .flowController()
                .addFlowControlled(
                        exchange.stream(),
                        new PushedData(
                                exchange,
                                joined,
                                encoder().configuration().frameSizePolicy().maxFrameSize(),
                                data));
        writeMuch();
        flushSoon();
    }

    /** As many bytes of what was pushed wait no longer. */
    void pushed(int bytes) {
        pushing -= bytes;
        pushed += bytes;
        resumeSoon();
    }

    /** The client has enlarged the window of that stream, if it is still open. */
    void windowGrew(@Nullable Http2Exchange exchange) {
        if (exchange != null) {
            exchange.windowGrew();
        }
    }

    /** The client has changed the windows of all streams. */
    void windowsGrew() {
        try {
            Http2Stream unused = connection().forEachActiveStream(stream -> {
                Http2Exchange each = exchange(stream);
                if (each != null) {
                    each.windowGrew();
                }
                return true;
            });
        } catch (Http2Exception e) {
            onError(context(), true, e);
        }
    }

    void await(Http2Exchange exchange) {
        waiting.add(exchange);
    }

    void forget(Http2Exchange exchange) {
        waiting.remove(exchange);
    }

    void consumed(Http2Stream stream, int bytes) {
        try {
            if (decoder().flowController().consumeBytes(stream, bytes)) {
                flushSoon();
            }
        } catch (Http2Exception e) {
            onError(context(), true, e);
        }
    }

    /** {@code reset} ends the stream in the other direction as well, afterwards. */
    void write(Http2Stream stream, Http2Headers headers, boolean end, boolean reset) {
        ChannelPromise written = context().newPromise();
        if (reset) {
            written.addListener(done -> reset(stream, Http2Error.NO_ERROR));
        }
        ChannelFuture unused = encoder().writeHeaders(context(), stream.id(), headers, 0, end, written);
        flushSoon();
    }

    /** Whether the client has to enlarge a window before the stream can continue. */
    boolean windowIsFull(Http2Stream stream) {
        Http2RemoteFlowController windows = encoder().flowController();
        return windows.windowSize(stream) <= 0
                || windows.windowSize(connection().connectionStream()) <= 0;
    }

    /** Follows what the client sends, before it gets here. */
    ReceivedFrames received() {
        return received;
    }

    private void end(String abuse) {
        onError(context(), false, Http2Exception.connectionError(Http2Error.ENHANCE_YOUR_CALM, abuse));
        // It may not read that.
        ChannelFuture unused = context().channel().close();
    }

    @Override
    protected void onConnectionError(
            ChannelHandlerContext ctx, boolean outbound, Throwable cause, @Nullable Http2Exception why) {
        if (outbound && !ctx.channel().isActive()) {
            // Each write that waits fails with a lost connection: that is one loss, not as many errors.
            return;
        }
        if (!outbound && why != null) {
            client.closed(why.error() == Http2Error.ENHANCE_YOUR_CALM ? Closure.ABUSE : Closure.PROTOCOL);
        }
        super.onConnectionError(ctx, outbound, cause, why);
    }

    /** Sends a ping; any frame counts as its answer. */
    void ping() {
        ChannelFuture unused = encoder()
                .writePing(context(), false, System.nanoTime(), context().newPromise());
        flushSoon();
    }

    /** Ends what has waited for the client for too long. */
    void check() {
        check.run(context(), taken + pushed);
    }

    /** {@code reset} as with headers. */
    void write(Http2Exchange exchange, ByteBuf data, boolean end, boolean reset) {
        Http2Stream stream = exchange.stream();
        int bytes = data.readableBytes();
        unwritten += bytes;
        pending += bytes;
        ChannelPromise written = context().newPromise();
        written.addListener(done -> {
            exchange.taken(bytes);
            taken(bytes);
        });
        if (reset) {
            written.addListener(done -> reset(stream, Http2Error.NO_ERROR));
        }
        ChannelFuture unused = encoder().writeData(context(), stream.id(), data, 0, end, written);
        writeMuch();
        flushSoon();
    }

    /** Writes a whole answer, and takes the message over. */
    void write(Http2Exchange exchange, List<Field> fields, ByteBuf message) {
        int bytes = message.readableBytes();
        unwritten += bytes;
        pending += bytes;
        encoder()
                .flowController()
                .addFlowControlled(exchange.stream(), new WholeAnswer(exchange, answers, joined, fields, message));
        writeMuch();
        flushSoon();
    }

    /** The client has changed what its table of headers may hold. */
    void tableChanged() {
        answers.tableChanged();
    }

    private void writeMuch() {
        if (unwritten >= Exchange.PIECE_BYTES) {
            // So that it is known when the socket's queue is full.
            writePending();
        }
    }

    /** Gives the socket's queue what it has room for. */
    void writePending() {
        unwritten = 0;
        try {
            encoder().flowController().writePendingBytes();
        } catch (Http2Exception e) {
            onError(context(), true, e);
        }
    }

    /** As many bytes of answers wait no longer. */
    void taken(int bytes) {
        boolean full = pending >= maxUnreadBytes;
        pending -= bytes;
        taken += bytes;
        if (full && pending < maxUnreadBytes) {
            resumeSoon();
        }
    }

    /** Ends the stream in both directions, unless it has ended. */
    void reset(Http2Stream stream, Http2Error why) {
        if (stream.state() != Http2Stream.State.CLOSED) {
            ChannelFuture unused = encoder()
                    .writeRstStream(
                            context(), stream.id(), why.code(), context().newPromise());
            flushSoon();
        }
    }

    private void flushSoon() {
        if (!reading && !flushComes) {
            flushComes = true;
            context().executor().execute(() -> {
                flushComes = false;
                flush(context());
            });
        }
    }

    /** Accepts no new streams, and closes when those under way have ended. */
    void shutDown() {
        gracefulShutdownTimeoutMillis(-1);
        try {
            super.close(context(), context().newPromise());
        } catch (Exception e) {
            onError(context(), true, e);
        }
    }

    /** Called by Vert.x when its timeout for requests in flight has passed. */
    @Override
    public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
        ChannelFuture unused = ctx.close(promise);
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) throws Exception {
        context = added;
        added.pipeline().addBefore(added.name(), "frames", joined);
        super.handlerAdded(added);
        Http2Stream all = connection().connectionStream();
        decoder()
                .flowController()
                .incrementWindowSize(
                        all,
                        ServerLimits.CONNECTION_WINDOW_BYTES
                                - decoder().flowController().windowSize(all));
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        reading = true;
        client.admission().reading();
        super.channelRead(ctx, message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) throws Exception {
        reading = false;
        super.channelReadComplete(ctx);
        // The client may have enlarged a window.
        resumeSoon();
        if (!ctx.channel().isWritable() && Http2Check.queued(ctx) > maxUnreadBytes) {
            // Headers have no window: a client that does not read them is not read, either.
            ctx.channel().config().setAutoRead(false);
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) throws Exception {
        super.channelWritabilityChanged(ctx);
        if (ctx.channel().isWritable()) {
            ctx.channel().config().setAutoRead(true);
            resumeSoon();
        }
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        unwritten = 0;
        super.flush(ctx);
    }

    /** In a turn of its own, so that other connections have theirs between two pieces of a large answer. */
    private void resumeSoon() {
        if (!waiting.isEmpty() && !resumptionComes) {
            resumptionComes = true;
            client.loop().execute(this::resume);
        }
    }

    private void resume() {
        resumptionComes = false;
        for (int left = waiting.size();
                left > 0 && !waiting.isEmpty() && context().channel().isWritable();
                left--) {
            Iterator<Http2Exchange> turns = waiting.iterator();
            Http2Exchange next = turns.next();
            turns.remove();
            next.resume();
        }
    }

    private ChannelHandlerContext context() {
        if (context == null) {
            throw new IllegalStateException("not added to a pipeline");
        }
        return context;
    }
}
