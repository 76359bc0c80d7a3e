package io.understudy.gateway.hub;

import io.understudy.config.Binder;
import io.understudy.config.Configured;
import java.time.Duration;

/** Limits of watches. */
@Configured.Group("watches")
public record HubSettings(
        @Configured(
                value = "Maximum number of watchers; excess watchers are rejected.",
                byDefault = "1000000",
                range = "1..2147483647")
        int maxWatchers,

        @Configured(
                value = "Maximum number of watchers per stream; excess watchers are rejected.",
                byDefault = "100000",
                range = "1..2147483647")
        int maxWatchersPerStream,

        @Configured(
                value = "Maximum number of watches on a follower of the source that read history for watchers starting"
                        + " before the window. Watchers share them or wait.",
                byDefault = "1",
                range = "1..16")
        int catchUpStreams,

        @Configured(
                value = "Interval of progress notifications to idle watchers that request them, plus up to 10 % jitter;"
                        + " etcd's --experimental-watch-progress-notify-interval.",
                byDefault = "10m",
                range = "100ms..1d")
        Duration progressInterval,

        @Configured(
                value = "Time without a revision confirmed by a quorum after which streams that require a leader end;"
                        + " three election timeouts in etcd.",
                byDefault = "3s",
                range = "100ms..10m")
        Duration noLeaderTimeout,

        @Configured(
                value = "Maximum size of the events buffered for one stream. Above it, the stream's watchers become"
                        + " unsynced and catch up when the client reads on.",
                byDefault = "64KiB",
                range = "4KiB..64MiB",
                bytes = true)
        int bufferBytes) {

    public static final HubSettings DEFAULTS = Binder.defaults(HubSettings.class);
}
