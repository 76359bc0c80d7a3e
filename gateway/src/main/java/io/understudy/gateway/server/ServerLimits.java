package io.understudy.gateway.server;

import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.http2.Http2Settings;
import io.understudy.config.Binder;
import io.understudy.config.Configured;
import io.understudy.gateway.server.LoopLoad.QueueBound;
import io.vertx.core.net.NetServerOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

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

    /**
     * Limits of the HTTP/2 frames of one connection.
     *
     * <p>Invariant S5: the work that HTTP/2 frames of one connection cause is bounded, and other connections are served
     * meanwhile.
     *
     * @param maxHeldBytes of headers, and as much of messages and bodies; one request's may be more
     */
    public record FrameLimits(
            @Configured(
                    value = "Maximum number of header fields per request; a request with more is rejected.",
                    byDefault = "500",
                    range = "16..100000")
            int maxHeaders,

            @Configured(
                    value =
                            "Maximum memory for the requests of one connection: headers of forwarded calls, and messages until"
                                    + " their calls end. Excess requests are rejected.",
                    byDefault = "64MiB",
                    range = "64KiB..1GiB",
                    bytes = true)
            int maxHeldBytes,

            @Configured(
                    value = "Maximum number of HTTP/2 control frames (PING, SETTINGS and others without a request) per"
                            + " connection in 30 s; above it, the connection is closed. SETTINGS weigh more with many open"
                            + " streams; a PING after a response is not counted.",
                    byDefault = "30000",
                    range = "100..2147483647")
            int maxControlFrames) {}

    /**
     * Limits of concurrent requests.
     *
     * <p>Invariant S6: calls in flight, requests per second and time per request are bounded, with room for other clients.
     *
     * @param maxDelay see {@link QueueBound}
     */
    public record LoadLimits(
            @Configured(
                    value =
                            "Maximum number of open calls per event loop, streams such as watches included; excess calls are"
                                    + " rejected. There is one event loop per processor.",
                    byDefault = "500000",
                    range = "1..2147483647")
            int maxCalls,

            @Configured(
                    value = "Maximum number of unary requests in flight per event loop; excess requests are rejected.",
                    byDefault = "50000",
                    range = "1..2147483647")
            int maxInFlight,

            @Configured(
                    value = "Maximum number of unary requests in flight per connection; excess requests are rejected.",
                    byDefault = "10000",
                    range = "1..2147483647")
            int maxInFlightPerConnection,

            @Configured(
                    value =
                            "Maximum requests per second and burst size of one client, identified by its certificate name or"
                                    + " address; excess requests are rejected. Default: unlimited.",
                    range = "1..10000000")
            @Nullable Integer maxRate,

            @Configured(
                    value =
                            "Maximum processor time that the unary requests queued on an event loop may need, by their measured"
                                    + " service time. In a standing queue, excess requests are rejected; 128 requests and bursts"
                                    + " of 2,000 are not.",
                    byDefault = "50ms",
                    range = "1ms..1m")
            Duration maxDelay) {}

    /** Timeouts of client connections and requests. */
    public record ConnectionTimeouts(
            @Configured(
                    value =
                            "Maximum time from the headers to the end of the body of a request; does not apply to streams.",
                    byDefault = "1m",
                    range = "200ms..1h")
            Duration requestTimeout,

            @Configured(
                    value =
                            "Time without requests in flight after which a connection is closed. Default: unlimited, as in"
                                    + " etcd.",
                    range = "1s..30d")
            @Nullable Duration idleTimeout,

            @Configured(
                    value = "Idle time after which an HTTP/2 client is sent a keepalive PING; etcd's"
                            + " --grpc-keepalive-interval.",
                    byDefault = "2h",
                    range = "1s..30d")
            Duration keepAliveInterval,

            @Configured(
                    value = "Time without a PING response after which the connection is closed; etcd's"
                            + " --grpc-keepalive-timeout.",
                    byDefault = "20s",
                    range = "1s..1h")
            Duration keepAliveTimeout) {}
}
