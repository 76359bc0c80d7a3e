package io.understudy.feed.etcd;

import io.understudy.config.Binder;
import io.understudy.config.Configured;
import java.time.Duration;

/** How a feed of an etcd cluster behaves. */
public record EtcdFeedOptions(
        @Configured(
                value =
                        "Maximum number of revisions to replay. Beyond it, the feed compares full state page by page, since"
                                + " replay is slow and delays etcd's writes. Does not apply to history consumers.",
                byDefault = "5000",
                range = "1..2147483647")
        long catchUpRevisions,

        @Configured(
                value =
                        "Maximum size of the keys and values of one commit, which is buffered in memory. A larger commit is"
                                + " replaced by a snapshot.",
                byDefault = "64MiB",
                range = "1MiB..1GiB",
                bytes = true)
        long maxCommitBytes,

        @Configured(
                value =
                        "Maximum time without a watch response, progress notifications included, before the feed switches to"
                                + " another member; at least twice the progressInterval.",
                byDefault = "4s",
                range = "200ms..5m")
        Duration stallTimeout,

        @Configured(value = "Interval of progress requests on an idle watch.", byDefault = "1s", range = "100ms..1m")
        Duration progressInterval,

        @Configured(
                value = "Timeout of one snapshot page or read index request.",
                byDefault = "5s",
                range = "100ms..5m")
        Duration requestTimeout,

        @Configured(
                value =
                        "Target size of a snapshot page, at most 1/256 of the Java heap; up to five pages are buffered.",
                byDefault = "2MiB",
                range = "64KiB..32MiB",
                bytes = true)
        long pageBytes,

        @Configured(
                value =
                        "follower: watch a follower, which reduces load on the leader. leader: watch the current leader,"
                                + " which delivers commits slightly sooner; history is still read from a follower.",
                byDefault = "follower")
        WatchedVoter watch) {

    public static final EtcdFeedOptions DEFAULTS = Binder.defaults(EtcdFeedOptions.class);

    public EtcdFeedOptions {
        if (stallTimeout.compareTo(progressInterval.multipliedBy(2)) < 0) {
            throw new IllegalArgumentException("stallTimeout is " + stallTimeout.toMillis()
                    + " ms; must be at least twice the progressInterval of " + progressInterval.toMillis() + " ms");
        }
    }

    /** The same with another interval of progress requests. */
    public EtcdFeedOptions withProgressInterval(Duration interval) {
        return Binder.with(this, "progressInterval", interval);
    }

    /** The same with another size of pages. */
    public EtcdFeedOptions withPageBytes(long bytes) {
        return Binder.with(this, "pageBytes", bytes);
    }
}
