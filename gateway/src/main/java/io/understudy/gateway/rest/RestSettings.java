package io.understudy.gateway.rest;

import io.understudy.config.Configuration;
import io.understudy.config.HostPort;
import io.understudy.config.Setting;
import java.util.List;

/**
 * Where REST is served.
 *
 * @param enabled whether it is served at all
 * @param listen port 0 for a free one
 */
public record RestSettings(boolean enabled, HostPort listen) {

    private static final Setting<Boolean> ENABLED =
            Setting.flag("rest.enabled", "Whether REST is served.").defaultsTo(true);
    private static final Setting<HostPort> LISTEN = Setting.hostPort(
                    "rest.listen", "Where REST is served; port 0 for a free one.")
            .defaultsTo(new HostPort("127.0.0.1", 8080));

    /** The settings as rows. */
    public static final List<Setting<?>> ROWS = List.of(ENABLED, LISTEN);

    /** What {@link #ROWS} say. */
    public static RestSettings from(Configuration configuration) {
        return new RestSettings(configuration.get(ENABLED), configuration.get(LISTEN));
    }
}
