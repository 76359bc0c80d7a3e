package io.understudy.gateway.server;

import io.understudy.config.Binder;
import io.understudy.gateway.server.ServerLimits.LoadLimits;
import java.time.Duration;

/** Limits of servers that are not to refuse calls because the machine of the test is busy with others. */
public final class Unhurried {

    static final LoadLimits LOAD = Binder.with(ServerLimits.DEFAULTS.load(), Duration.ofMinutes(1));

    public static final ServerLimits LIMITS = Binder.with(ServerLimits.DEFAULTS, LOAD);

    private Unhurried() {}
}
