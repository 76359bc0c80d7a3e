package io.understudy.mirror.auth;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.understudy.mirror.metrics.MirrorMeter;
import java.time.Duration;
import java.util.function.Supplier;

/** Metrics of a mirror's copy of roles and users. One per mirror. */
final class AuthMetrics {

    private final String mirror;
    private final MeterRegistry meters;
    private final Counter changes;

    /** @param report the current one */
    AuthMetrics(String mirror, MeterRegistry meters, Supplier<AuthReport> report) {
        this.mirror = mirror;
        this.meters = meters;
        this.changes = MirrorMeter.AUTH_CHANGES.counter().tag("mirror", mirror).register(meters);
        MirrorMeter.AUTH_LEFT_ALONE
                .gauge(() -> report.get().leftAlone())
                .tag("mirror", mirror)
                .register(meters);
        MirrorMeter.AUTH_WITHOUT_PASSWORD
                .gauge(() -> report.get().withoutPassword().size())
                .tag("mirror", mirror)
                .register(meters);
    }

    void changed() {
        changes.increment();
    }

    /** @param outcome ok, held, overtaken or failed */
    void compared(String outcome, Duration took) {
        Timer timer = MirrorMeter.AUTH_COMPARISONS
                .timer()
                .tag("mirror", mirror)
                .tag("outcome", outcome)
                .register(meters);
        timer.record(took);
    }
}
