package io.understudy.gateway.rest;

import io.understudy.config.Configured;
import io.understudy.config.HostPort;
import java.time.Duration;

/** Settings of the REST port. */
@Configured.Group("rest")
public record RestSettings(
        @Configured(value = "Serve REST.", byDefault = "true")
        boolean enabled,

        @Configured(value = "Listen address of REST; port 0 selects a free port.", byDefault = "127.0.0.1:8080")
        HostPort listen,

        @Configured(
                value =
                        "Interval of progress messages on an idle commit stream. It must be shorter than the idle timeout of"
                                + " proxies.",
                byDefault = "15s",
                range = "100ms..1h")
        Duration heartbeatInterval) {}
