package io.understudy.gateway.server;

import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import io.understudy.gateway.server.Exchange.Stall;
import io.understudy.gateway.server.Loads.LoadMetrics.Closure;
import io.understudy.gateway.server.ServerLimits.ConnectionTimeouts;
import org.jspecify.annotations.Nullable;

/** Checks periodically whether the client stalls. */
final class Http2Check {

    private final Http2Handler handler;
    private final ConnectionTimeouts timeouts;
    private final ReceivedFrames received;
    private final Stall unread = new Stall();
    private final Stall begun = new Stall();
    private long completed;
    private long heardNanos = System.nanoTime();
    private long busyNanos = heardNanos;
    private @Nullable Long pingedNanos;

    Http2Check(Http2Handler handler, ConnectionTimeouts timeouts, ReceivedFrames received) {
        this.handler = handler;
        this.timeouts = timeouts;
        this.received = received;
    }

    /** {@code takenBytes} grows when the client reads. */
    void run(ChannelHandlerContext context, long takenBytes) {
        long now = System.nanoTime();
        // While reading is paused, silence of the client proves nothing.
        boolean paused = !context.channel().config().isAutoRead();
        if (paused) {
            heardNanos = now;
            pingedNanos = null;
        }
        // A full socket or half a frame stalls all streams, so the connection is closed.
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
                    exchange.check(timeouts.requestTimeout());
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
            return now - pingedNanos > timeouts.keepAliveTimeout().toNanos();
        } else if (now - heardNanos > timeouts.keepAliveInterval().toNanos()) {
            pingedNanos = now;
            handler.ping();
        }
        return false;
    }

    private boolean isIdle(long now) {
        if (handler.connection().numActiveStreams() > 0) {
            busyNanos = now;
        }
        return timeouts.idleTimeout() != null
                && now - busyNanos > timeouts.idleTimeout().toNanos();
    }

    private void close(ChannelHandlerContext context, Closure why) {
        handler.client().closed(why);
        ChannelFuture unused = context.close();
    }

    /** Returns the bytes that wait for the socket. */
    static long queued(ChannelHandlerContext context) {
        ChannelOutboundBuffer queue = context.channel().unsafe().outboundBuffer();
        return queue == null ? 0 : queue.totalPendingWriteBytes();
    }
}
