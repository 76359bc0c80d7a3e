package io.understudy.gateway.server;

import io.understudy.config.Configured;

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
                        + " streams.",
                byDefault = "30000",
                range = "100..2147483647")
        int maxControlFrames) {}
