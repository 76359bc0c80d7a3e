package io.understudy.gateway.server;

import io.understudy.config.Configured;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

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
