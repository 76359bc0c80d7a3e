package io.understudy.etcd;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.metrics.CommonMeter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/** Metrics of one cluster; every meter has the tag {@code cluster}, its configured name. */
final class EtcdMetrics implements AutoCloseable {

    static final String OK = "ok";
    static final String FAILED = "failed";

    private final MeterRegistry registry;
    private final String cluster;
    private final List<Meter> gauges = new ArrayList<>();

    EtcdMetrics(MeterRegistry registry, String cluster, Supplier<ClusterView> view) {
        this.registry = registry;
        this.cluster = cluster;
        gauges.add(CommonMeter.ETCD_FAULTS
                .gauge(() -> faults(view.get()))
                .tag("cluster", cluster)
                .register(registry));
        for (Role role : Role.values()) {
            for (Health health : Health.values()) {
                gauges.add(CommonMeter.ETCD_MEMBERS
                        .gauge(() -> count(view.get(), role, health))
                        .tag("cluster", cluster)
                        .tag("role", spelled(role))
                        .tag("health", spelled(health))
                        .register(registry));
            }
        }
    }

    void request(Duty duty, String outcome) {
        CommonMeter.ETCD_REQUESTS
                .counter()
                .tags("cluster", cluster, "duty", spelled(duty), "outcome", outcome)
                .register(registry)
                .increment();
    }

    void login(String outcome) {
        CommonMeter.ETCD_LOGINS
                .counter()
                .tags("cluster", cluster, "outcome", outcome)
                .register(registry)
                .increment();
    }

    void probe(Duration took, String outcome) {
        CommonMeter.ETCD_PROBES
                .timer()
                .tag("cluster", cluster)
                .tag("outcome", outcome)
                .register(registry)
                .record(took);
    }

    void readIndex(Role role, Duration took, String outcome) {
        CommonMeter.ETCD_READINDEX
                .timer()
                .tag("cluster", cluster)
                .tag("role", spelled(role))
                .tag("outcome", outcome)
                .register(registry)
                .record(took);
    }

    static String spelled(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /** Removes the gauges, which would retain the cluster; counters stay. */
    @Override
    public void close() {
        gauges.forEach(registry::remove);
    }

    private static long faults(ClusterView view) {
        return view.members().stream()
                .flatMap(member -> member.version().warnings().stream())
                .distinct()
                .count();
    }

    private static long count(ClusterView view, Role role, Health health) {
        return view.members().stream()
                .filter(member -> member.role() == role && member.health() == health)
                .count();
    }
}
