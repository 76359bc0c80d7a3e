package io.understudy.cluster.shape;

import io.understudy.config.Configuration;
import io.understudy.config.HostPort;
import io.understudy.config.Setting;
import io.understudy.tls.ListenerSecurity;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * How a supervisor itself runs.
 *
 * @param listen where its state is served, and {@code pause} and {@code resume} are taken
 * @param security of that page
 * @param interval pause between two looks at the cluster
 * @param patience how long one look waits for members that don't answer
 * @param lease another supervisor acts once this one has not been heard of for so long
 */
public record SupervisorSettings(
        HostPort listen, ListenerSecurity security, Duration interval, Duration patience, Duration lease) {

    private static final Duration DEFAULT_INTERVAL = Duration.ofSeconds(1);
    private static final Duration DEFAULT_PATIENCE = Duration.ofSeconds(1);
    private static final Duration DEFAULT_LEASE = Duration.ofSeconds(3);

    private static final Setting<HostPort> LISTEN = Setting.hostPort(
                    "listen",
                    "Listen address for state and metrics. Pause and resume are accepted from this machine only.")
            .defaultsTo(new HostPort("127.0.0.1", 8082));
    private static final Setting<Duration> INTERVAL = Setting.duration(
                    "interval", "Interval between observations of the cluster.")
            .defaultsTo(DEFAULT_INTERVAL)
            .between(Duration.ofMillis(100), Duration.ofMinutes(1));
    private static final Setting<Duration> PATIENCE = Setting.duration(
                    "patience", "Timeout of an observation for members that do not respond.")
            .defaultsTo(DEFAULT_PATIENCE)
            .between(Duration.ofMillis(100), Duration.ofMinutes(1));
    private static final Setting<Duration> LEASE = Setting.duration(
                    "lease", "TTL of the election lease: another supervisor becomes active after it expires.")
            .defaultsTo(DEFAULT_LEASE)
            .between(Duration.ofSeconds(2), Duration.ofMinutes(10));

    /** Relative to the group {@code supervisor}. */
    public static final List<Setting<?>> ROWS = Stream.concat(
                    Stream.of(LISTEN, INTERVAL, PATIENCE, LEASE), ListenerSecurity.ROWS.stream())
            .toList();

    public SupervisorSettings {
        security.require("supervisor.listen", listen);
    }

    /**
     * What {@link #ROWS} say.
     *
     * @param group the part of the configuration the rows were put under
     */
    public static SupervisorSettings from(Configuration group) {
        return new SupervisorSettings(
                group.get(LISTEN),
                ListenerSecurity.from(group),
                group.get(INTERVAL),
                group.get(PATIENCE),
                group.get(LEASE));
    }

    /** From the beginning of a look to that of the next, at most. */
    public Duration pace() {
        return interval.plus(patience);
    }

    /** So long after a look began a step may be taken on it: what it takes, and less than another needs to act instead. */
    public Duration freshness() {
        return patience.plus(lease.dividedBy(2));
    }
}
