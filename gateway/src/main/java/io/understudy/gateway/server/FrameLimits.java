package io.understudy.gateway.server;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.util.List;

/**
 * What one connection may make of HTTP/2, beside the limits that etcd's clients need to be wide.
 *
 * @param maxHeaders fields of one request, 16 to 100,000
 * @param maxHeldHeaderBytes of headers that are kept for requests that go on, of one connection, 64 KiB to 1 GiB. One
 *     request's may be more
 * @param maxControlFrames such as PING and SETTINGS within 30 s, 100 to 2^31-1; beyond, the connection is closed as abusive.
 *     Settings count for more where many streams are open
 */
public record FrameLimits(int maxHeaders, int maxHeldHeaderBytes, int maxControlFrames) {

    public static final FrameLimits DEFAULTS = new FrameLimits(500, 16 << 20, 30_000);

    private static final Setting<Integer> MAX_HEADERS = Setting.integer(
                    "limits.maxHeaders", "Fields in the headers of one request; more are refused.")
            .defaultsTo(DEFAULTS.maxHeaders)
            .between(16, 100_000);
    private static final Setting<Long> MAX_HELD_HEADER_BYTES = Setting.bytes(
                    "limits.maxHeldHeaderBytes",
                    "Of headers that are kept for the calls of one connection that are under way, such as those passed on;"
                            + " more calls are refused.")
            .defaultsTo((long) DEFAULTS.maxHeldHeaderBytes)
            .between(64L << 10, 1L << 30);
    private static final Setting<Integer> MAX_CONTROL_FRAMES = Setting.integer(
                    "limits.maxControlFrames",
                    "PING, SETTINGS and other frames of HTTP/2 without a request that a client may send within 30 s on one"
                            + " connection; beyond, it is closed as abusive. Settings count for more with many open streams.")
            .defaultsTo(DEFAULTS.maxControlFrames)
            .between(100, Integer.MAX_VALUE);

    static final List<Setting<?>> ROWS = List.of(MAX_HEADERS, MAX_HELD_HEADER_BYTES, MAX_CONTROL_FRAMES);

    public FrameLimits {
        ServerLimits.between("maxHeaders", maxHeaders, 16, 100_000);
        ServerLimits.between("maxHeldHeaderBytes", maxHeldHeaderBytes, 64 << 10, 1 << 30);
        ServerLimits.between("maxControlFrames", maxControlFrames, 100, Integer.MAX_VALUE);
    }

    static FrameLimits from(Configuration configuration) {
        return new FrameLimits(
                configuration.get(MAX_HEADERS),
                Math.toIntExact(configuration.get(MAX_HELD_HEADER_BYTES)),
                configuration.get(MAX_CONTROL_FRAMES));
    }
}
