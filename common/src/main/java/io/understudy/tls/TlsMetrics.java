package io.understudy.tls;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.metrics.CommonMeter;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What is measured of the certificates of one side; every meter has the tag {@code name}: the cluster that is connected
 * to, or {@code listener}.
 */
final class TlsMetrics implements AutoCloseable {

    private final MeterRegistry registry;
    private final String name;
    private final @Nullable Meter expiry;

    TlsMetrics(MeterRegistry registry, String name, Supplier<@Nullable Instant> expires) {
        this.registry = registry;
        this.name = name;
        // There from the start: what appears with the first failure could not be seen to increase.
        count(CommonMeter.TLS_RELOADS, false, 0);
        this.expiry = expires.get() == null
                ? null
                : CommonMeter.TLS_EXPIRY
                        .gauge(() -> seconds(expires.get()))
                        .tag("name", name)
                        .register(registry);
    }

    void reloaded(boolean used) {
        count(CommonMeter.TLS_RELOADS, used, 1);
    }

    void shookHands(boolean done) {
        count(CommonMeter.TLS_HANDSHAKES, done, 1);
    }

    private void count(CommonMeter what, boolean ok, int times) {
        what.counter()
                .tags("name", name, "outcome", ok ? "ok" : "failed")
                .register(registry)
                .increment(times);
    }

    private static double seconds(@Nullable Instant expires) {
        return expires == null
                ? Double.NaN
                : Duration.between(Instant.now(), expires).toSeconds();
    }

    /** Takes the gauge back, which would hold on to the certificates. */
    @Override
    public void close() {
        if (expiry != null) {
            registry.remove(expiry);
        }
    }
}
