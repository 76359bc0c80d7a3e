package io.understudy.etcd;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * What is measured of one cluster; every meter has the tag {@code cluster}, its configured name.
 *
 * <ul>
 *   <li>{@code understudy.etcd.requests} (counter; {@code duty}, {@code outcome}): requests whose outcome callers reported.
 *       Outcome {@code ok}, or what could be done about the failure
 *   <li>{@code understudy.etcd.probes} (timer; {@code outcome}): looks at single endpoints
 *   <li>{@code understudy.etcd.readindex} (timer; {@code role}, {@code outcome}): attempts to confirm a revision, by the
 *       role of who was asked
 *   <li>{@code understudy.etcd.logins} (counter; {@code outcome}): tokens asked for
 *   <li>{@code understudy.etcd.members} (gauge; {@code role}, {@code health})
 * </ul>
 */
final class EtcdMetrics implements AutoCloseable {

    static final String OK = "ok";
    static final String FAILED = "failed";

    private final MeterRegistry registry;
    private final String cluster;
    private final List<Meter> gauges = new ArrayList<>();

    EtcdMetrics(MeterRegistry registry, String cluster, Supplier<ClusterView> view) {
        this.registry = registry;
        this.cluster = cluster;
        for (Role role : Role.values()) {
            for (Health health : Health.values()) {
                gauges.add(Gauge.builder("understudy.etcd.members", () -> count(view.get(), role, health))
                        .description("Members of the cluster, and gateways, as last seen")
                        .tag("cluster", cluster)
                        .tag("role", spelled(role))
                        .tag("health", spelled(health))
                        .register(registry));
            }
        }
    }

    void request(Duty duty, String outcome) {
        registry.counter("understudy.etcd.requests", "cluster", cluster, "duty", spelled(duty), "outcome", outcome)
                .increment();
    }

    void login(String outcome) {
        registry.counter("understudy.etcd.logins", "cluster", cluster, "outcome", outcome)
                .increment();
    }

    void probe(Duration took, String outcome) {
        Timer.builder("understudy.etcd.probes")
                .description("Looks at single endpoints")
                .tag("cluster", cluster)
                .tag("outcome", outcome)
                .register(registry)
                .record(took);
    }

    void readIndex(Role role, Duration took, String outcome) {
        Timer.builder("understudy.etcd.readindex")
                .description("Attempts to confirm a revision by a quorum")
                .tag("cluster", cluster)
                .tag("role", spelled(role))
                .tag("outcome", outcome)
                .register(registry)
                .record(took);
    }

    static String spelled(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /** Takes the gauges back, which would hold on to the cluster; what was counted stays. */
    @Override
    public void close() {
        gauges.forEach(registry::remove);
    }

    private static long count(ClusterView view, Role role, Health health) {
        return view.members().stream()
                .filter(member -> member.role() == role && member.health() == health)
                .count();
    }
}
