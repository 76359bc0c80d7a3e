package io.understudy.gateway.server;

import java.time.Duration;

/** Limits of servers that are not to refuse calls because the machine of the test is busy with others. */
public final class Unhurried {

    static final LoadLimits LOAD = new LoadLimits(
            LoadLimits.DEFAULTS.maxCalls(),
            LoadLimits.DEFAULTS.maxInFlight(),
            LoadLimits.DEFAULTS.maxInFlightPerConnection(),
            null,
            Duration.ofMinutes(1));

    public static final ServerLimits LIMITS = new ServerLimits(
            ServerLimits.DEFAULTS.maxRequestBytes(),
            ServerLimits.DEFAULTS.maxHeaderBytes(),
            ServerLimits.DEFAULTS.maxStreams(),
            ServerLimits.DEFAULTS.maxResets(),
            ServerLimits.DEFAULTS.maxUnreadBytes(),
            ServerLimits.DEFAULTS.maxConnections(),
            ServerLimits.DEFAULTS.stallTimeout(),
            ServerLimits.DEFAULTS.frames(),
            LOAD,
            ServerLimits.DEFAULTS.patience());

    private Unhurried() {}
}
