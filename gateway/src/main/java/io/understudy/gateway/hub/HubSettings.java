package io.understudy.gateway.hub;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.time.Duration;
import java.util.List;

/**
 * What watchers may ask for.
 *
 * @param maxWatchers in all, 1 to 2^31-1; more are refused
 * @param maxWatchersPerStream 1 to 2^31-1; more are refused
 * @param catchUpStreams watches at the source for those whose start the log has forgotten, 1 to 16; others wait their turn
 * @param progressInterval how often a quiet watcher that wants it is told how far it is, 100 ms to 1 d; up to a tenth more
 * @param noLeaderTimeout after which without a confirmed revision those end that require a leader, 100 ms to 10 min
 * @param bufferBytes of events that wait for one stream's client, 4 KiB to 64 MiB; one batch may be more
 */
public record HubSettings(
        int maxWatchers,
        int maxWatchersPerStream,
        int catchUpStreams,
        Duration progressInterval,
        Duration noLeaderTimeout,
        int bufferBytes) {

    public static final HubSettings DEFAULTS =
            new HubSettings(1_000_000, 100_000, 1, Duration.ofMinutes(10), Duration.ofSeconds(3), 64 << 10);

    private static final Setting<Integer> MAX_WATCHERS = Setting.integer(
                    "watches.maxWatchers", "Maximum number of watchers; excess watchers are rejected.")
            .defaultsTo(DEFAULTS.maxWatchers)
            .between(1, Integer.MAX_VALUE);
    private static final Setting<Integer> MAX_WATCHERS_PER_STREAM = Setting.integer(
                    "watches.maxWatchersPerStream",
                    "Maximum number of watchers per stream; excess watchers are rejected.")
            .defaultsTo(DEFAULTS.maxWatchersPerStream)
            .between(1, Integer.MAX_VALUE);
    private static final Setting<Integer> CATCH_UP_STREAMS = Setting.integer(
                    "watches.catchUpStreams",
                    "Maximum number of watches on a follower of the source that read history for watchers starting before"
                            + " the window. Watchers share them or wait.")
            .defaultsTo(DEFAULTS.catchUpStreams)
            .between(1, 16);
    private static final Setting<Duration> PROGRESS_INTERVAL = Setting.duration(
                    "watches.progressInterval",
                    "Interval of progress notifications to idle watchers that request them, plus up to 10 % jitter; etcd's"
                            + " --experimental-watch-progress-notify-interval.")
            .defaultsTo(DEFAULTS.progressInterval)
            .between(Duration.ofMillis(100), Duration.ofDays(1));
    private static final Setting<Duration> NO_LEADER_TIMEOUT = Setting.duration(
                    "watches.noLeaderTimeout",
                    "Time without a revision confirmed by a quorum after which streams that require a leader end; three"
                            + " election timeouts in etcd.")
            .defaultsTo(DEFAULTS.noLeaderTimeout)
            .between(Duration.ofMillis(100), Duration.ofMinutes(10));
    private static final Setting<Long> BUFFER_BYTES = Setting.bytes(
                    "watches.bufferBytes",
                    "Maximum size of the events buffered for one stream. Above it, the stream's watchers become unsynced and"
                            + " catch up when the client reads on.")
            .defaultsTo((long) DEFAULTS.bufferBytes)
            .between(4L << 10, 64L << 20);

    /** The settings as rows. */
    public static final List<Setting<?>> ROWS = List.of(
            MAX_WATCHERS,
            MAX_WATCHERS_PER_STREAM,
            CATCH_UP_STREAMS,
            PROGRESS_INTERVAL,
            NO_LEADER_TIMEOUT,
            BUFFER_BYTES);

    /** What {@link #ROWS} say. */
    public static HubSettings from(Configuration configuration) {
        return new HubSettings(
                configuration.get(MAX_WATCHERS),
                configuration.get(MAX_WATCHERS_PER_STREAM),
                configuration.get(CATCH_UP_STREAMS),
                configuration.get(PROGRESS_INTERVAL),
                configuration.get(NO_LEADER_TIMEOUT),
                Math.toIntExact(configuration.get(BUFFER_BYTES)));
    }
}
