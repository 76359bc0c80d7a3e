package io.understudy.mirror.lease;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What a mirror that keeps leases shows of them, tagged {@code mirror}: {@code understudy.mirror.leases}, kept alive now;
 * {@code understudy.mirror.leases.restored}, keys put back after leases had run out in the target. One per mirror.
 */
public final class LeaseMetrics {

    private final AtomicInteger held = new AtomicInteger();
    private final Counter restored;

    public LeaseMetrics(String mirror, MeterRegistry meters) {
        Gauge.builder("understudy.mirror.leases", held, AtomicInteger::get)
                .tag("mirror", mirror)
                .register(meters);
        this.restored = Counter.builder("understudy.mirror.leases.restored")
                .description("keys put back after their leases had run out in the target")
                .tag("mirror", mirror)
                .register(meters);
    }

    void held(int count) {
        held.set(count);
    }

    void restored(int keys) {
        restored.increment(keys);
    }
}
