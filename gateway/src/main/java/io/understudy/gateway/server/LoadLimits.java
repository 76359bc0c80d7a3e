package io.understudy.gateway.server;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How much may be under way at a time, and when what comes beyond is refused early.
 *
 * <p>Invariant S6: calls in flight, requests per second and time per request are bounded, with room for other clients.
 *
 * @param maxCalls open on one event loop, streams such as watches included, 1 to 2^31-1
 * @param maxInFlight of those the ones with one answer, which a client waits for, 1 to 2^31-1
 * @param maxInFlightPerConnection of those on one connection, 1 to 2^31-1
 * @param maxRate requests per second of one client, known by the name in its certificate, else by its address, 1 to
 *     10,000,000; as many may come at once. Null for any
 * @param maxDelay processor time that the requests queued on an event loop may need, 1 ms to 1 min; see {@link QueueBound}
 */
public record LoadLimits(
        int maxCalls,
        int maxInFlight,
        int maxInFlightPerConnection,
        @Nullable Integer maxRate,
        Duration maxDelay) {

    public static final LoadLimits DEFAULTS = new LoadLimits(500_000, 50_000, 10_000, null, Duration.ofMillis(50));

    private static final Setting<Integer> MAX_CALLS = Setting.integer(
                    "limits.maxCalls",
                    "Maximum number of open calls per event loop, streams such as watches included; excess calls are"
                            + " rejected. There is one event loop per processor.")
            .defaultsTo(DEFAULTS.maxCalls)
            .between(1, Integer.MAX_VALUE);
    private static final Setting<Integer> MAX_IN_FLIGHT = Setting.integer(
                    "limits.maxInFlight",
                    "Maximum number of unary requests in flight per event loop; excess requests are rejected.")
            .defaultsTo(DEFAULTS.maxInFlight)
            .between(1, Integer.MAX_VALUE);
    private static final Setting<Integer> MAX_IN_FLIGHT_PER_CONNECTION = Setting.integer(
                    "limits.maxInFlightPerConnection",
                    "Maximum number of unary requests in flight per connection; excess requests are rejected.")
            .defaultsTo(DEFAULTS.maxInFlightPerConnection)
            .between(1, Integer.MAX_VALUE);
    private static final Setting<Integer> MAX_RATE = Setting.integer(
                    "limits.maxRate",
                    "Maximum requests per second and burst size of one client, identified by its certificate name or"
                            + " address; excess requests are rejected. Default: unlimited.")
            .optionally()
            .between(1, 10_000_000);
    private static final Setting<Duration> MAX_DELAY = Setting.duration(
                    "limits.maxDelay",
                    "Maximum processor time that the unary requests queued on an event loop may need, by their measured"
                            + " service time. In a standing queue, excess requests are rejected; 128 requests and bursts of"
                            + " 2,000 are not.")
            .defaultsTo(DEFAULTS.maxDelay)
            .between(Duration.ofMillis(1), Duration.ofMinutes(1));

    static final List<Setting<?>> ROWS =
            List.of(MAX_CALLS, MAX_IN_FLIGHT, MAX_IN_FLIGHT_PER_CONNECTION, MAX_RATE, MAX_DELAY);

    public LoadLimits {
        Bounds.require("maxCalls", maxCalls, 1, Integer.MAX_VALUE);
        Bounds.require("maxInFlight", maxInFlight, 1, Integer.MAX_VALUE);
        Bounds.require("maxInFlightPerConnection", maxInFlightPerConnection, 1, Integer.MAX_VALUE);
        if (maxRate != null) {
            Bounds.require("maxRate", maxRate, 1, 10_000_000);
        }
        Bounds.require("maxDelay", maxDelay.toMillis(), 1, 60_000);
    }

    static LoadLimits from(Configuration configuration) {
        return new LoadLimits(
                configuration.get(MAX_CALLS),
                configuration.get(MAX_IN_FLIGHT),
                configuration.get(MAX_IN_FLIGHT_PER_CONNECTION),
                configuration.find(MAX_RATE).orElse(null),
                configuration.get(MAX_DELAY));
    }
}
