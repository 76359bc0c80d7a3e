package io.understudy.gateway.rest;

import io.understudy.config.Configuration;
import io.understudy.config.HostPort;
import io.understudy.config.Setting;
import java.time.Duration;
import java.util.List;

/**
 * Where REST is served.
 *
 * @param enabled whether it is served at all
 * @param listen port 0 for a free one
 * @param heartbeatInterval after which a quiet stream is told how far it is, 100 ms to 1 h
 */
public record RestSettings(boolean enabled, HostPort listen, Duration heartbeatInterval) {

    public static final Duration HEARTBEAT_INTERVAL = Duration.ofSeconds(15);

    private static final Setting<Boolean> ENABLED =
            Setting.flag("rest.enabled", "Serve REST.").defaultsTo(true);
    private static final Setting<HostPort> LISTEN = Setting.hostPort(
                    "rest.listen", "Listen address of REST; port 0 selects a free port.")
            .defaultsTo(new HostPort("127.0.0.1", 8080));

    private static final Setting<Duration> HEARTBEAT = Setting.duration(
                    "rest.heartbeatInterval",
                    "Interval of progress messages on an idle commit stream. It must be shorter than the idle timeout of"
                            + " proxies.")
            .defaultsTo(HEARTBEAT_INTERVAL)
            .between(Duration.ofMillis(100), Duration.ofHours(1));

    /** The settings as rows. */
    public static final List<Setting<?>> ROWS = List.of(ENABLED, LISTEN, HEARTBEAT);

    /** What {@link #ROWS} say. */
    public static RestSettings from(Configuration configuration) {
        return new RestSettings(configuration.get(ENABLED), configuration.get(LISTEN), configuration.get(HEARTBEAT));
    }
}
