package io.understudy.feed.etcd;

import java.time.Duration;

/**
 * How a feed of an etcd cluster behaves.
 *
 * @param catchUpRevisions further behind than this, a {@link io.understudy.feed.FeedKind#STATE} feed gives a snapshot to
 *     merge instead of replaying: etcd replays 1,000 revisions per 100 ms, at the cost of its writers
 * @param maxCommitBytes keys and values of one commit; a larger one ends the feed
 * @param stallTimeout a stream that has told nothing for this long, though asked, is given up for another member
 * @param progressInterval how often a quiet stream is asked for a progress mark
 * @param requestTimeout deadline of one page, and of one read index
 * @param pageBytes what a snapshot page aims at; two pages are held at a time
 */
public record EtcdFeedOptions(
        long catchUpRevisions,
        long maxCommitBytes,
        Duration stallTimeout,
        Duration progressInterval,
        Duration requestTimeout,
        long pageBytes) {

    /** What the configuration's defaults are. */
    public static final EtcdFeedOptions DEFAULTS = new EtcdFeedOptions(
            5_000, 64L << 20, Duration.ofSeconds(4), Duration.ofSeconds(1), Duration.ofSeconds(5), 2L << 20);

    public EtcdFeedOptions {
        requirePositive("catchUpRevisions", catchUpRevisions);
        requirePositive("maxCommitBytes", maxCommitBytes);
        requirePositive("pageBytes", pageBytes);
        requirePositive("progressInterval", progressInterval.toNanos());
        requirePositive("requestTimeout", requestTimeout.toNanos());
        if (stallTimeout.compareTo(progressInterval.multipliedBy(2)) < 0) {
            throw new IllegalArgumentException("stallTimeout is " + stallTimeout
                    + "; at least twice the progressInterval of " + progressInterval + " is allowed");
        }
    }

    /** The same with another limit of revisions to replay. */
    public EtcdFeedOptions withCatchUpRevisions(long revisions) {
        return new EtcdFeedOptions(
                revisions, maxCommitBytes, stallTimeout, progressInterval, requestTimeout, pageBytes);
    }

    /** The same with another limit of a commit's bytes. */
    public EtcdFeedOptions withMaxCommitBytes(long bytes) {
        return new EtcdFeedOptions(catchUpRevisions, bytes, stallTimeout, progressInterval, requestTimeout, pageBytes);
    }

    private static void requirePositive(String name, long value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " is " + value + "; at least 1 is allowed");
        }
    }
}
