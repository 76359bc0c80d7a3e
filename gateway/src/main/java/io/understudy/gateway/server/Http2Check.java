package io.understudy.gateway.server;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import io.understudy.gateway.server.LoadMetrics.Closure;
import org.jspecify.annotations.Nullable;

/** Looks, again and again, whether it has been the client's turn for too long. */
final class Http2Check {

    private final Http2Handler handler;
    private final Patience patience;
    private final ReceivedFrames received;
    private final Stall unread = new Stall();
    private final Stall begun = new Stall();
    private long completed;
    private long heardNanos = System.nanoTime();
    private long busyNanos = heardNanos;
    private @Nullable Long pingedNanos;

    Http2Check(Http2Handler handler, Patience patience, ReceivedFrames received) {
        this.handler = handler;
        this.patience = patience;
        this.received = received;
    }

    /** {@code takenBytes} differs from the last time's if the client has taken anything of what it is sent. */
    void run(ChannelHandlerContext context, long takenBytes) {
        long now = System.nanoTime();
        // What the client sends is not read for now, so its silence proves nothing.
        boolean paused = !context.channel().config().isAutoRead();
        if (paused) {
            heardNanos = now;
            pingedNanos = null;
        }
        // A full socket or half a frame affects all streams, so that none can be ended by itself.
        if (unread.lasts(
                        !handler.decoder().prefaceReceived()
                                || !context.channel().isWritable(),
                        takenBytes - queued(context))
                || begun.lasts(!paused && received.incomplete(), received.completed())) {
            close(context, Closure.STALL);
        } else if (!paused && isDead(now)) {
            close(context, Closure.DEAD);
        } else if (isIdle(now)) {
            handler.client().closed(Closure.IDLE);
            handler.shutDown();
        } else {
            checkStreams(context);
        }
    }

    private void checkStreams(ChannelHandlerContext context) {
        try {
            Http2Stream unused = handler.connection().forEachActiveStream(stream -> {
                Http2Exchange exchange = handler.exchange(stream);
                if (exchange != null) {
                    exchange.check(patience.requestTimeout());
                }
                return true;
            });
        } catch (Http2Exception e) {
            handler.onError(context, true, e);
        }
    }

    private boolean isDead(long now) {
        if (received.completed() != completed) {
            completed = received.completed();
            heardNanos = now;
            pingedNanos = null;
        } else if (pingedNanos != null) {
            return now - pingedNanos > patience.keepAliveTimeout().toNanos();
        } else if (now - heardNanos > patience.keepAliveInterval().toNanos()) {
            pingedNanos = now;
            handler.ping();
        }
        return false;
    }

    private boolean isIdle(long now) {
        if (handler.connection().numActiveStreams() > 0) {
            busyNanos = now;
        }
        return patience.idleTimeout() != null
                && now - busyNanos > patience.idleTimeout().toNanos();
    }

    private void close(ChannelHandlerContext context, Closure why) {
        handler.client().closed(why);
        ChannelFuture unused = context.close();
    }

    /** Bytes that wait for the socket. */
    static long queued(ChannelHandlerContext context) {
        ChannelOutboundBuffer queue = context.channel().unsafe().outboundBuffer();
        return queue == null ? 0 : queue.totalPendingWriteBytes();
    }
}
