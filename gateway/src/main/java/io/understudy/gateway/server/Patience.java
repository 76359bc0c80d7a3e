package io.understudy.gateway.server;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How long clients may take.
 *
 * @param requestTimeout from a request's head to the end of its body, 200 ms to 1 h, however steadily it comes; streams may
 *     stay open
 * @param idleTimeout how long a connection may have nothing under way, 1 s to 30 d; null for ever, as at etcd
 * @param keepAliveInterval how long a client may be silent before it is asked by a PING whether it is there, 1 s to 30 d
 * @param keepAliveTimeout how long it may take for the answer, 1 s to 1 h
 */
public record Patience(
        Duration requestTimeout,
        @Nullable Duration idleTimeout,
        Duration keepAliveInterval,
        Duration keepAliveTimeout) {

    private static final Duration LEAST = Duration.ofSeconds(1);
    private static final Duration MOST = Duration.ofDays(30);

    public static final Patience DEFAULTS =
            new Patience(Duration.ofMinutes(1), null, Duration.ofHours(2), Duration.ofSeconds(20));

    private static final Setting<Duration> REQUEST_TIMEOUT = Setting.duration(
                    "limits.requestTimeout",
                    "Maximum time from the headers to the end of the body of a request; does not apply to streams.")
            .defaultsTo(DEFAULTS.requestTimeout)
            .between(Duration.ofMillis(200), Duration.ofHours(1));
    private static final Setting<Duration> IDLE_TIMEOUT = Setting.duration(
                    "limits.idleTimeout",
                    "Time without requests in flight after which a connection is closed. Default: unlimited, as in etcd.")
            .optionally()
            .between(LEAST, MOST);
    private static final Setting<Duration> KEEP_ALIVE_INTERVAL = Setting.duration(
                    "limits.keepAliveInterval",
                    "Idle time after which an HTTP/2 client is sent a keepalive PING; etcd's --grpc-keepalive-interval.")
            .defaultsTo(DEFAULTS.keepAliveInterval)
            .between(LEAST, MOST);
    private static final Setting<Duration> KEEP_ALIVE_TIMEOUT = Setting.duration(
                    "limits.keepAliveTimeout",
                    "Time without a PING response after which the connection is closed; etcd's --grpc-keepalive-timeout.")
            .defaultsTo(DEFAULTS.keepAliveTimeout)
            .between(LEAST, Duration.ofHours(1));

    static final List<Setting<?>> ROWS =
            List.of(REQUEST_TIMEOUT, IDLE_TIMEOUT, KEEP_ALIVE_INTERVAL, KEEP_ALIVE_TIMEOUT);

    public Patience {
        Bounds.require("requestTimeout", requestTimeout.toMillis(), 200, 3_600_000);
        if (idleTimeout != null) {
            Bounds.require("idleTimeout", idleTimeout.toMillis(), LEAST.toMillis(), MOST.toMillis());
        }
        Bounds.require("keepAliveInterval", keepAliveInterval.toMillis(), LEAST.toMillis(), MOST.toMillis());
        Bounds.require("keepAliveTimeout", keepAliveTimeout.toMillis(), LEAST.toMillis(), 3_600_000);
    }

    static Patience from(Configuration configuration) {
        return new Patience(
                configuration.get(REQUEST_TIMEOUT),
                configuration.find(IDLE_TIMEOUT).orElse(null),
                configuration.get(KEEP_ALIVE_INTERVAL),
                configuration.get(KEEP_ALIVE_TIMEOUT));
    }
}
