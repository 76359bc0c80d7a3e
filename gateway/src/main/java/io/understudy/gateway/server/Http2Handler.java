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
import io.understudy.gateway.server.AnswerFrames.WholeAnswer;
import io.understudy.gateway.server.Loads.LoadMetrics.Closure;
import io.understudy.gateway.server.Outflow.PushedData;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP/2 connection. It flushes once after each read, and once for all later writes of a loop turn, so that
 * responses to requests that arrived together leave together.
 */
final class Http2Handler extends Http2ConnectionHandler {

    /** Window that shows that the client reads: a quarter of the default. */
    private static final int OPEN_BYTES = 16 << 10;

    /** Multiple of the unread limit of held data above which streams need an open window. */
    private static final int HELD_SHARE = 4;

    /** As {@link #HELD_SHARE}, before all streams wait: dozens may hold a large batch while others continue. */
    private static final int MOST_HELD_SHARE = 64;

    private final Http2Connection.PropertyKey exchangeKey = connection().newKey();
    /** Streams that wait for the client to read, in order. */
    private final Set<Http2Exchange> waiting = new LinkedHashSet<>();

    private final ClientConnection client;
    private final JoinedFrames joined = new JoinedFrames();
    private final AnswerFrames answers = new AnswerFrames(this, joined);
    private @Nullable ChannelHandlerContext context;
    private final int maxUnreadBytes;
    private final ReceivedFrames received;
    private final Http2Check check;
    private long unwritten;
    /** Bytes of answers that wait for a window or the socket. */
    private long pending;
    /** Bytes of answers that were sent. */
    private long taken;
    /** Bytes of pushed data that wait for the connection's window, or the socket. */
    private long pushing;
    /** Bytes of pushed data that were sent. */
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
        this.received = new ReceivedFrames(limits, connection()::numActiveStreams, joined::answerFrames, this::end);
        this.check = new Http2Check(this, limits.timeouts(), received);
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

    /** Whether windows and socket have room, and the waiting data is within the limit. */
    boolean writable(Http2Stream stream) {
        return pending < maxUnreadBytes && encoder().flowController().isWritable(stream);
    }

    /** Returns the client's window of a stream. */
    int window(Http2Stream stream) {
        return encoder().flowController().windowSize(stream);
    }

    /** Whether the connection has room for a stream with {@code free} bytes in its window. */
    boolean pushable(long free) {
        return pushing < maxUnreadBytes
                && context().channel().isWritable()
                && free > 0
                && held < (long) maxUnreadBytes * (free < OPEN_BYTES ? HELD_SHARE : MOST_HELD_SHARE);
    }

    /** Held data of streams has grown, or shrunk, by {@code bytes}. */
    void held(long bytes) {
        boolean much = held >= (long) maxUnreadBytes * HELD_SHARE;
        held += bytes;
        if (much && bytes < 0) {
            resumeSoon();
        }
    }

    /** Writes data within the stream's window, and releases it. */
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

    /** Bytes of pushed data were sent or dropped. */
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

    /** Returns the handler that counts received frames. */
    ReceivedFrames received() {
        return received;
    }

    private void end(String abuse) {
        onError(context(), false, Http2Exception.connectionError(Http2Error.ENHANCE_YOUR_CALM, abuse));
        // It may not read the GOAWAY.
        ChannelFuture unused = context().channel().close();
    }

    @Override
    protected void onConnectionError(
            ChannelHandlerContext ctx, boolean outbound, Throwable cause, @Nullable Http2Exception why) {
        if (outbound && !ctx.channel().isActive()) {
            // A lost connection fails each pending write: that is one event, not many errors.
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

    /** Ends stalled streams, or the connection. */
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

    /** Writes a whole answer, and releases the message. */
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

    /** The client has changed the maximum size of its header table. */
    void tableChanged() {
        answers.tableChanged();
    }

    private void writeMuch() {
        if (unwritten >= Exchange.PIECE_BYTES) {
            // Detects a full queue of the socket.
            writePending();
        }
    }

    /** Writes pending data to the socket's queue, as far as it has room. */
    void writePending() {
        unwritten = 0;
        try {
            encoder().flowController().writePendingBytes();
        } catch (Http2Exception e) {
            onError(context(), true, e);
        }
    }

    /** Bytes of answers were sent or dropped. */
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

    /** Accepts no new streams, and closes after those in flight. */
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

    /** Resumes streams in another turn, so that other connections are served between two pieces. */
    void resumeSoon() {
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
