package io.understudy.gateway.server;

import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.http2.Http2Settings;
import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import io.vertx.core.net.NetServerOptions;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * What one client may ask of the server. The defaults are etcd's where etcd has a limit; Vert.x's own defaults are much
 * tighter and break etcd's clients.
 *
 * <p>Invariant S1: limits equal etcd's where etcd has one, and otherwise do not restrict its clients.
 *
 * @param maxRequestBytes of one gRPC message, 1 KiB to 512 MiB. etcd: 1.5 MiB for the request and 512 KiB beside it
 * @param maxHeaderBytes of all headers of a request, 8 KiB to 16 MiB; tokens travel there
 * @param maxStreams open at a time on one connection, 1 to 2^31-1: a watching client may need one per watch
 * @param maxResets of streams by the client on one connection within 30 s, 1 to 2^31-1; beyond, it is closed as abusive
 * @param maxUnreadBytes of answers that wait in memory for one connection's client to read them, 64 KiB to 1 GiB; the rest
 *     of a large answer is not made before there is room. One value may be more
 * @param maxConnections open at a time, 1 to 2^31-1; further ones are closed at once
 * @param stallTimeout how long a client may take nothing of an answer that waits for it, or leave what it sends
 *     incomplete, 200 ms to 1 h; found out up to half as much later
 * @param frames what one connection may make of HTTP/2 beside
 * @param load how much may be under way at a time
 * @param patience how long clients may take
 */
public record ServerLimits(
        long maxRequestBytes,
        int maxHeaderBytes,
        int maxStreams,
        int maxResets,
        int maxUnreadBytes,
        int maxConnections,
        Duration stallTimeout,
        FrameLimits frames,
        LoadLimits load,
        Patience patience) {

    public static final ServerLimits DEFAULTS = new ServerLimits(
            (1536 + 512) << 10,
            256 << 10,
            100_000,
            100_000,
            1 << 20,
            100_000,
            Duration.ofSeconds(60),
            FrameLimits.DEFAULTS,
            LoadLimits.DEFAULTS,
            Patience.DEFAULTS);

    private static final Setting<Long> MAX_REQUEST_BYTES = Setting.bytes(
                    "limits.maxRequestBytes", "Maximum size of a gRPC request message.")
            .defaultsTo(DEFAULTS.maxRequestBytes)
            .between(1L << 10, 512L << 20);
    private static final Setting<Long> MAX_HEADER_BYTES = Setting.bytes(
                    "limits.maxHeaderBytes", "Maximum total size of the headers of a request, auth token included.")
            .defaultsTo((long) DEFAULTS.maxHeaderBytes)
            .between(8L << 10, 16L << 20);
    private static final Setting<Integer> MAX_STREAMS = Setting.integer(
                    "limits.maxStreams",
                    "Maximum number of concurrent streams per connection; a client may need one per watch.")
            .defaultsTo(DEFAULTS.maxStreams)
            .between(1, Integer.MAX_VALUE);
    private static final Setting<Integer> MAX_RESETS = Setting.integer(
                    "limits.maxResets",
                    "Maximum number of streams cancelled by the client per connection in 30 s; above it, the connection is"
                            + " closed.")
            .defaultsTo(DEFAULTS.maxResets)
            .between(1, Integer.MAX_VALUE);
    private static final Setting<Long> MAX_UNREAD_BYTES = Setting.bytes(
                    "limits.maxUnreadBytes",
                    "Maximum size of responses buffered per connection. The rest of a large response is generated when the"
                            + " client reads on.")
            .defaultsTo((long) DEFAULTS.maxUnreadBytes)
            .between(64L << 10, 1L << 30);
    private static final Setting<Integer> MAX_CONNECTIONS = Setting.integer(
                    "limits.maxConnections",
                    "Maximum number of open connections; excess connections are closed at once.")
            .defaultsTo(DEFAULTS.maxConnections)
            .between(1, Integer.MAX_VALUE);

    private static final Setting<Duration> STALL_TIMEOUT = Setting.duration(
                    "limits.stallTimeout",
                    "Maximum time that a client may stall in reading a response or sending a request; then the call or the"
                            + " connection is closed. Does not apply to idle connections.")
            .defaultsTo(DEFAULTS.stallTimeout)
            .between(Duration.ofMillis(200), Duration.ofHours(1));

    /** The limits as rows. */
    public static final List<Setting<?>> ROWS = Stream.of(
                    List.of(
                            MAX_REQUEST_BYTES,
                            MAX_HEADER_BYTES,
                            MAX_STREAMS,
                            MAX_RESETS,
                            MAX_UNREAD_BYTES,
                            MAX_CONNECTIONS,
                            STALL_TIMEOUT),
                    FrameLimits.ROWS,
                    LoadLimits.ROWS,
                    Patience.ROWS)
            .<Setting<?>>flatMap(List::stream)
            .toList();

    /** Before a sender has to wait for the receiver; HTTP/2's own default is 64 KiB for both. */
    private static final int STREAM_WINDOW_BYTES = 1 << 20;

    static final int CONNECTION_WINDOW_BYTES = 4 << 20;

    static final int RESET_WINDOW_SECONDS = 30;

    public ServerLimits {
        Bounds.require("maxRequestBytes", maxRequestBytes, 1 << 10, 512 << 20);
        Bounds.require("maxHeaderBytes", maxHeaderBytes, 8 << 10, 16 << 20);
        Bounds.require("maxStreams", maxStreams, 1, Integer.MAX_VALUE);
        Bounds.require("maxResets", maxResets, 1, Integer.MAX_VALUE);
        Bounds.require("maxUnreadBytes", maxUnreadBytes, 64 << 10, 1 << 30);
        Bounds.require("maxConnections", maxConnections, 1, Integer.MAX_VALUE);
        Bounds.require(
                "stallTimeout",
                stallTimeout.toMillis(),
                200,
                Duration.ofHours(1).toMillis());
    }

    /** What {@link #ROWS} say. */
    public static ServerLimits from(Configuration configuration) {
        return new ServerLimits(
                configuration.get(MAX_REQUEST_BYTES),
                Math.toIntExact(configuration.get(MAX_HEADER_BYTES)),
                configuration.get(MAX_STREAMS),
                configuration.get(MAX_RESETS),
                Math.toIntExact(configuration.get(MAX_UNREAD_BYTES)),
                configuration.get(MAX_CONNECTIONS),
                configuration.get(STALL_TIMEOUT),
                FrameLimits.from(configuration),
                LoadLimits.from(configuration),
                Patience.from(configuration));
    }

    NetServerOptions net() {
        return new NetServerOptions().setTcpNoDelay(true);
    }

    Http2Settings http2() {
        return new Http2Settings()
                .maxConcurrentStreams(maxStreams)
                .initialWindowSize(STREAM_WINDOW_BYTES)
                .maxHeaderListSize(maxHeaderBytes);
    }

    /** When a connection's answers pile up, and when they no longer do. */
    WriteBufferWaterMark unread() {
        return new WriteBufferWaterMark(maxUnreadBytes / 4, maxUnreadBytes);
    }
}
