package io.understudy.gateway.server;

import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.http2.Http2Settings;
import io.understudy.config.Binder;
import io.understudy.config.Configured;
import io.vertx.core.net.NetServerOptions;
import java.time.Duration;

/**
 * Limits of one client. The defaults are etcd's where etcd has a limit; Vert.x's are too low for etcd's clients.
 *
 * <p>Invariant S1: limits equal etcd's where etcd has one, and otherwise do not restrict its clients.
 *
 * @param maxRequestBytes etcd's 1.5 MiB for the request, and 512 KiB beside it
 * @param maxUnreadBytes one value may be more
 * @param stallTimeout takes effect up to half as much later
 */
@Configured.Group("limits")
public record ServerLimits(
        @Configured(
                value = "Maximum size of a gRPC request message.",
                byDefault = "2MiB",
                range = "1KiB..512MiB",
                bytes = true)
        long maxRequestBytes,

        @Configured(
                value = "Maximum total size of the headers of a request, auth token included.",
                byDefault = "256KiB",
                range = "8KiB..16MiB",
                bytes = true)
        int maxHeaderBytes,

        @Configured(
                value = "Maximum number of concurrent streams per connection; a client may need one per watch.",
                byDefault = "100000",
                range = "1..2147483647")
        int maxStreams,

        @Configured(
                value =
                        "Maximum number of streams cancelled by the client per connection in 30 s; above it, the connection"
                                + " is closed.",
                byDefault = "100000",
                range = "1..2147483647")
        int maxResets,

        @Configured(
                value =
                        "Maximum size of responses buffered per connection. The rest of a large response is generated when"
                                + " the client reads on.",
                byDefault = "1MiB",
                range = "64KiB..1GiB",
                bytes = true)
        int maxUnreadBytes,

        @Configured(
                value = "Maximum number of open connections; excess connections are closed at once.",
                byDefault = "100000",
                range = "1..2147483647")
        int maxConnections,

        @Configured(
                value =
                        "Maximum time that a client may stall in reading a response or sending a request; then the call or"
                                + " the connection is closed. Does not apply to idle connections.",
                byDefault = "60s",
                range = "200ms..1h")
        Duration stallTimeout,

        FrameLimits frames,
        LoadLimits load,
        ConnectionTimeouts timeouts) {

    public static final ServerLimits DEFAULTS = Binder.defaults(ServerLimits.class);

    /** HTTP/2's own default is 64 KiB for streams and connections. */
    private static final int STREAM_WINDOW_BYTES = 1 << 20;

    static final int CONNECTION_WINDOW_BYTES = 4 << 20;

    static final int RESET_WINDOW_SECONDS = 30;

    NetServerOptions net() {
        return new NetServerOptions().setTcpNoDelay(true);
    }

    Http2Settings http2() {
        return new Http2Settings()
                .maxConcurrentStreams(maxStreams)
                .initialWindowSize(STREAM_WINDOW_BYTES)
                .maxHeaderListSize(maxHeaderBytes);
    }

    /** Returns the water marks of a connection's unread answers. */
    WriteBufferWaterMark unread() {
        return new WriteBufferWaterMark(maxUnreadBytes / 4, maxUnreadBytes);
    }
}
