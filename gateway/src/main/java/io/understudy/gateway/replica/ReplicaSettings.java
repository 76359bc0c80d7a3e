package io.understudy.gateway.replica;

import io.understudy.config.Binder;
import io.understudy.config.Configuration;
import io.understudy.config.Configured;
import java.time.Duration;
import java.util.Map;

/** Limits of a replica: how many past revisions it keeps, and its memory. */
public record ReplicaSettings(
        @Configured(
                key = "window.revisions",
                value =
                        "Number of past revisions kept in memory, of those that changed a key in the range. Older ones are"
                                + " read from the source.",
                byDefault = "10000",
                range = "1..10000000")
        int windowRevisions,

        @Configured(
                key = "window.bytes",
                value = "Maximum memory of past revisions; the oldest are discarded first.",
                byDefault = "32MiB",
                range = "1MiB..1TiB",
                bytes = true)
        long windowBytes,

        @Configured(
                key = "replica.maxBytes",
                value =
                        "Maximum memory of the replica, past revisions included. Above it, the replica is dropped and reads"
                                + " are proxied to the source. Default: 60 % of the maximum Java heap.",
                optional = true,
                range = "1MiB..1TiB",
                example = "2GiB",
                bytes = true)
        long maxBytes,

        @Configured(
                key = "replica.retryInterval",
                value = "Time after which a dropped replica is rebuilt from a snapshot, if it fits.",
                byDefault = "10m",
                range = "1s..7d")
        Duration retryInterval) {

    /** Share of this JVM's maximum heap. The rest is for requests, snapshot pages and the collector. */
    private static final double SHARE_OF_HEAP = 0.6;

    private static final Map<String, Long> BY_HEAP =
            Map.of("maxBytes", (long) (SHARE_OF_HEAP * Runtime.getRuntime().maxMemory()));

    public static final ReplicaSettings DEFAULTS = Binder.defaults(ReplicaSettings.class, BY_HEAP);

    /** The settings of the configuration. */
    public static ReplicaSettings from(Configuration configuration) {
        return configuration.bind(ReplicaSettings.class, BY_HEAP);
    }

    /** The same with a window of so many revisions. */
    public ReplicaSettings withWindowRevisions(int revisions) {
        return Binder.with(this, "windowRevisions", revisions);
    }

    /** The heap of which so many bytes are the replica's share. */
    static long heapFor(long bytes) {
        return (long) (bytes / SHARE_OF_HEAP);
    }
}
