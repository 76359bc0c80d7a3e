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
                    "watches.maxWatchers", "Watchers in all; more are refused.")
            .defaultsTo(DEFAULTS.maxWatchers)
            .between(1, Integer.MAX_VALUE);
    private static final Setting<Integer> MAX_WATCHERS_PER_STREAM = Setting.integer(
                    "watches.maxWatchersPerStream", "Watchers on one stream; more are refused.")
            .defaultsTo(DEFAULTS.maxWatchersPerStream)
            .between(1, Integer.MAX_VALUE);
    private static final Setting<Integer> CATCH_UP_STREAMS = Setting.integer(
                    "watches.catchUpStreams",
                    "Watches at the source, on a follower, for watchers that begin before the window; they share, and others"
                            + " wait their turn.")
            .defaultsTo(DEFAULTS.catchUpStreams)
            .between(1, 16);
    private static final Setting<Duration> PROGRESS_INTERVAL = Setting.duration(
                    "watches.progressInterval",
                    "How often a quiet watcher that asked for it is told how far it is, and up to a tenth more; etcd's"
                            + " --experimental-watch-progress-notify-interval.")
            .defaultsTo(DEFAULTS.progressInterval)
            .between(Duration.ofMillis(100), Duration.ofDays(1));
    private static final Setting<Duration> NO_LEADER_TIMEOUT = Setting.duration(
                    "watches.noLeaderTimeout",
                    "How long without a revision confirmed by a quorum until streams end that require a leader; etcd takes"
                            + " three election timeouts.")
            .defaultsTo(DEFAULTS.noLeaderTimeout)
            .between(Duration.ofMillis(100), Duration.ofMinutes(10));
    private static final Setting<Long> BUFFER_BYTES = Setting.bytes(
                    "watches.bufferBytes",
                    "Of events that wait for one stream's client; then its watchers fall behind, and catch up when it takes"
                            + " more.")
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
