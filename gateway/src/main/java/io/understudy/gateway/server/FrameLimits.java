package io.understudy.gateway.server;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.util.List;

/**
 * What one connection may make of HTTP/2, beside the limits that etcd's clients need to be wide.
 *
 * <p>Invariant S5: the work that HTTP/2 frames of one connection cause is bounded, and other connections are served
 * meanwhile.
 *
 * @param maxHeaders fields of one request, 16 to 100,000
 * @param maxHeldBytes of headers that are kept for calls that go on, and as much of messages that aren't complete, of one
 *     connection, 64 KiB to 1 GiB. One request's may be more
 * @param maxControlFrames such as PING and SETTINGS within 30 s, 100 to 2^31-1; beyond, the connection is closed as abusive.
 *     Settings count for more where many streams are open
 */
public record FrameLimits(int maxHeaders, int maxHeldBytes, int maxControlFrames) {

    public static final FrameLimits DEFAULTS = new FrameLimits(500, 64 << 20, 30_000);

    private static final Setting<Integer> MAX_HEADERS = Setting.integer(
                    "limits.maxHeaders",
                    "Maximum number of header fields per request; a request with more is rejected.")
            .defaultsTo(DEFAULTS.maxHeaders)
            .between(16, 100_000);
    private static final Setting<Long> MAX_HELD_BYTES = Setting.bytes(
                    "limits.maxHeldBytes",
                    "Maximum memory for the calls of one connection: headers of forwarded calls and parts of incomplete"
                            + " messages. Excess calls are rejected.")
            .defaultsTo((long) DEFAULTS.maxHeldBytes)
            .between(64L << 10, 1L << 30);
    private static final Setting<Integer> MAX_CONTROL_FRAMES = Setting.integer(
                    "limits.maxControlFrames",
                    "Maximum number of HTTP/2 control frames (PING, SETTINGS and others without a request) per connection in"
                            + " 30 s; above it, the connection is closed. SETTINGS weigh more with many open streams.")
            .defaultsTo(DEFAULTS.maxControlFrames)
            .between(100, Integer.MAX_VALUE);

    static final List<Setting<?>> ROWS = List.of(MAX_HEADERS, MAX_HELD_BYTES, MAX_CONTROL_FRAMES);

    public FrameLimits {
        Bounds.require("maxHeaders", maxHeaders, 16, 100_000);
        Bounds.require("maxHeldBytes", maxHeldBytes, 64 << 10, 1 << 30);
        Bounds.require("maxControlFrames", maxControlFrames, 100, Integer.MAX_VALUE);
    }

    static FrameLimits from(Configuration configuration) {
        return new FrameLimits(
                configuration.get(MAX_HEADERS),
                Math.toIntExact(configuration.get(MAX_HELD_BYTES)),
                configuration.get(MAX_CONTROL_FRAMES));
    }
}
