package io.understudy.gateway.permission;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * What is measured of permissions. For any thread.
 *
 * <ul>
 *   <li>{@code understudy.gateway.permissions.checks}: time to ask the source what somebody may read, by {@code outcome}:
 *       {@code granted}, {@code refused}, {@code unknown}
 *   <li>{@code understudy.gateway.permissions.enforced}: 1 while the source has authentication enabled, 0 while it has not; no
 *       number while nobody knows
 *   <li>{@code understudy.gateway.permissions.cached}: what was granted lately and is not asked for again
 * </ul>
 */
final class PermissionMetrics {

    private static final String PREFIX = "understudy.gateway.permissions.";

    private final Timer granted;
    private final Timer refused;
    private final Timer unknown;

    PermissionMetrics(MeterRegistry registry, Supplier<Authentication.State> state, LongSupplier cached) {
        this.granted = checks(registry, "granted");
        this.refused = checks(registry, "refused");
        this.unknown = checks(registry, "unknown");
        Gauge.builder(PREFIX + "enforced", () -> switch (state.get()) {
                    case UNKNOWN -> Double.NaN;
                    case OFF -> 0.0;
                    case ON -> 1.0;
                })
                .description("Whether the source has authentication enabled")
                .strongReference(true)
                .register(registry);
        Gauge.builder(PREFIX + "cached", cached::getAsLong)
                .description("Permissions granted lately")
                .strongReference(true)
                .register(registry);
    }

    private static Timer checks(MeterRegistry registry, String outcome) {
        return Timer.builder(PREFIX + "checks")
                .description("Time to ask the source what somebody may read")
                .tag("outcome", outcome)
                .register(registry);
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
