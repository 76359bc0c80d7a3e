package io.understudy.gateway.replica;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.time.Duration;
import java.util.List;

/**
 * How much of the past a replica keeps, and how much memory it may take.
 *
 * @param windowRevisions past revisions at which something changed; at least 1
 * @param windowBytes of heap that they may take beside the latest state; at least 1 MiB
 * @param maxBytes of heap for everything: the replica is dropped rather than to take more; at least 1 MiB
 * @param retryInterval after which a dropped replica is built anew, if it fits now
 */
public record ReplicaSettings(int windowRevisions, long windowBytes, long maxBytes, Duration retryInterval) {

    private static final long LEAST_BYTES = 1L << 20;
    private static final long MOST_BYTES = 1L << 40;

    /** Of the largest heap this JVM may have; the rest is for requests, snapshot pages and the collector. */
    private static final double SHARE_OF_HEAP = 0.6;

    public static final ReplicaSettings DEFAULTS =
            new ReplicaSettings(10_000, 32L << 20, shareOfHeap(), Duration.ofMinutes(10));

    private static final Setting<Integer> WINDOW_REVISIONS = Setting.integer(
                    "window.revisions",
                    "Number of past revisions kept in memory, of those that changed a key in the range. Older ones are read"
                            + " from the source.")
            .defaultsTo(DEFAULTS.windowRevisions)
            .between(1, 10_000_000);
    private static final Setting<Long> WINDOW_BYTES = Setting.bytes(
                    "window.bytes", "Maximum memory of past revisions; the oldest are discarded first.")
            .defaultsTo(DEFAULTS.windowBytes)
            .between(LEAST_BYTES, MOST_BYTES);
    private static final Setting<Long> MAX_BYTES = Setting.bytes(
                    "replica.maxBytes",
                    "Maximum memory of the replica, past revisions included. Above it, the replica is dropped and reads are"
                            + " proxied to the source. Default: 60 % of the maximum Java heap.")
            .optionally()
            .between(LEAST_BYTES, MOST_BYTES)
            .example("2GiB");
    private static final Setting<Duration> RETRY_INTERVAL = Setting.duration(
                    "replica.retryInterval",
                    "Time after which a dropped replica is rebuilt from a snapshot, if it fits.")
            .defaultsTo(DEFAULTS.retryInterval)
            .between(Duration.ofSeconds(1), Duration.ofDays(7));

    /** The settings as rows. */
    public static final List<Setting<?>> ROWS = List.of(WINDOW_REVISIONS, WINDOW_BYTES, MAX_BYTES, RETRY_INTERVAL);

    public ReplicaSettings {
        if (windowRevisions < 1 || windowBytes < LEAST_BYTES || maxBytes < LEAST_BYTES) {
            throw new IllegalArgumentException("window.revisions is " + windowRevisions + ", window.bytes "
                    + windowBytes + ", replica.maxBytes " + maxBytes + "; allowed: at least 1 revision and 1 MiB each");
        }
    }

    /** What {@link #ROWS} say. */
    public static ReplicaSettings from(Configuration configuration) {
        return new ReplicaSettings(
                configuration.get(WINDOW_REVISIONS),
                configuration.get(WINDOW_BYTES),
                configuration.find(MAX_BYTES).orElse(DEFAULTS.maxBytes),
                configuration.get(RETRY_INTERVAL));
    }

    /** The same with a window of so many revisions. */
    public ReplicaSettings withWindowRevisions(int revisions) {
        return new ReplicaSettings(revisions, windowBytes, maxBytes, retryInterval);
    }

    /** The heap of which a replica of so many bytes takes no more than its share. */
    static long heapFor(long bytes) {
        return (long) (bytes / SHARE_OF_HEAP);
    }

    private static long shareOfHeap() {
        return (long) (SHARE_OF_HEAP * Runtime.getRuntime().maxMemory());
    }
}
