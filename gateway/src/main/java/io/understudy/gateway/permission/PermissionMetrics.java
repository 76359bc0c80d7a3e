package io.understudy.gateway.permission;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.understudy.gateway.metrics.GatewayMeter;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** What is measured of permissions. For any thread. */
final class PermissionMetrics {

    private final Timer granted;
    private final Timer refused;
    private final Timer unknown;

    PermissionMetrics(MeterRegistry registry, Supplier<Authentication.State> state, LongSupplier cached) {
        this.granted = checks(registry, "granted");
        this.refused = checks(registry, "refused");
        this.unknown = checks(registry, "unknown");
        // Those of the former source, where the primary has moved.
        registry.find(GatewayMeter.PERMISSIONS_ENFORCED.metric().name())
                .gauges()
                .forEach(registry::remove);
        registry.find(GatewayMeter.PERMISSIONS_CACHED.metric().name()).gauges().forEach(registry::remove);
        GatewayMeter.PERMISSIONS_ENFORCED
                .gauge(() -> switch (state.get()) {
                    case UNKNOWN -> Double.NaN;
                    case OFF -> 0.0;
                    case ON -> 1.0;
                })
                .strongReference(true)
                .register(registry);
        GatewayMeter.PERMISSIONS_CACHED
                .gauge(cached::getAsLong)
                .strongReference(true)
                .register(registry);
    }

    private static Timer checks(MeterRegistry registry, String outcome) {
        return GatewayMeter.PERMISSIONS_CHECKS.timer().tag("outcome", outcome).register(registry);
    }

    void granted(Duration took) {
        granted.record(took);
    }

    void refused(Duration took) {
        refused.record(took);
    }

    void unknown(Duration took) {
        unknown.record(took);
    }
}
