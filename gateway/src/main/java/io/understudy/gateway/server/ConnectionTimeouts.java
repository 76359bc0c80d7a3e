package io.understudy.gateway.server;

import io.understudy.config.Configured;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Timeouts of client connections and requests. */
public record ConnectionTimeouts(
        @Configured(
                value = "Maximum time from the headers to the end of the body of a request; does not apply to streams.",
                byDefault = "1m",
                range = "200ms..1h")
        Duration requestTimeout,

        @Configured(
                value = "Time without requests in flight after which a connection is closed. Default: unlimited, as in"
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
