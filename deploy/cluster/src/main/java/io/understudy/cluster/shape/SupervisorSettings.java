package io.understudy.cluster.shape;

import io.understudy.config.Configured;
import io.understudy.config.HostPort;
import io.understudy.tls.ListenerSecurity;
import java.time.Duration;

/**
 * Settings of a supervisor process.
 *
 * @param security of the page
 */
public record SupervisorSettings(
        @Configured(
                value = "Listen address for state and metrics. Pause and resume are accepted from this machine only.",
                byDefault = "127.0.0.1:8082")
        HostPort listen,

        ListenerSecurity security,

        @Configured(value = "Interval between observations of the cluster.", byDefault = "1s", range = "100ms..1m")
        Duration interval,

        @Configured(
                value = "Timeout of an observation for members that do not respond.",
                byDefault = "1s",
                range = "100ms..1m")
        Duration patience,

        @Configured(
                value = "TTL of the election lease: another supervisor becomes active after it expires.",
                byDefault = "3s",
                range = "2s..10m")
        Duration lease) {

    public SupervisorSettings {
        security.require("supervisor.listen", listen);
    }

    /** Returns the maximum time between the starts of two observations. */
    public Duration pace() {
        return interval.plus(patience);
    }

    /** Returns the maximum age of an observation for a step, before another supervisor acts. */
    public Duration freshness() {
        return patience.plus(lease.dividedBy(2));
    }
}
