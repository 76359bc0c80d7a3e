package io.understudy.tls;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What is measured of the certificates of one side; every meter has the tag {@code name}: the cluster that is connected
 * to, or {@code listener}.
 *
 * <ul>
 *   <li>{@code understudy.tls.reloads} (counter; {@code outcome}): files that had changed: {@code ok}, or {@code failed}
 *       if they can't be used
 *   <li>{@code understudy.tls.handshakes} (counter; {@code outcome} {@code ok} or {@code failed}): of connections that Netty
 *       accepted
 *   <li>{@code understudy.tls.expiry} (gauge, seconds): until this side's certificate expires, negative afterwards; only
 *       where it has one
 * </ul>
 */
final class TlsMetrics implements AutoCloseable {

    private final MeterRegistry registry;
    private final String name;
    private final @Nullable Gauge expiry;

    TlsMetrics(MeterRegistry registry, String name, Supplier<@Nullable Instant> expires) {
        this.registry = registry;
        this.name = name;
        this.expiry = expires.get() == null
                ? null
                : Gauge.builder("understudy.tls.expiry", () -> seconds(expires.get()))
                        .description("Until this side's certificate expires; negative afterwards")
                        .baseUnit("seconds")
                        .tag("name", name)
                        .register(registry);
    }

    void reloaded(boolean used) {
        count("understudy.tls.reloads", used);
    }

    void shookHands(boolean done) {
        count("understudy.tls.handshakes", done);
    }

    private void count(String what, boolean ok) {
        registry.counter(what, "name", name, "outcome", ok ? "ok" : "failed").increment();
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
