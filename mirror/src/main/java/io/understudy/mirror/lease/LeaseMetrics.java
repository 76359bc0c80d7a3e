package io.understudy.mirror.lease;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.mirror.metrics.MirrorMeter;
import java.util.concurrent.atomic.AtomicInteger;

/** Metrics of a mirror's leases. One per mirror. */
public final class LeaseMetrics {

    private final AtomicInteger held = new AtomicInteger();
    private final Counter restored;

    public LeaseMetrics(String mirror, MeterRegistry meters) {
        MirrorMeter.LEASES.gauge(held, AtomicInteger::get).tag("mirror", mirror).register(meters);
        this.restored =
                MirrorMeter.LEASES_RESTORED.counter().tag("mirror", mirror).register(meters);
    }

    void held(int count) {
        held.set(count);
    }

    void restored(int keys) {
        restored.increment(keys);
    }
}
