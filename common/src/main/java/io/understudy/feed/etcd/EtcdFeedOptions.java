package io.understudy.feed.etcd;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.time.Duration;
import java.util.List;

/**
 * How a feed of an etcd cluster behaves.
 *
 * @param catchUpRevisions further behind than this, a feed of no {@link io.understudy.feed.FeedKind#HISTORY} gives a
 *     snapshot to merge instead of replaying: etcd replays 1,000 revisions per 100 ms, at the cost of its writers
 * @param maxCommitBytes keys and values of one commit; a snapshot replaces a larger one
 * @param stallTimeout a stream that has told nothing for this long, though asked, is given up for another member
 * @param progressInterval how often a quiet stream is asked for a progress mark
 * @param requestTimeout deadline of one page, and of one read index
 * @param pageBytes target size of a snapshot page, at most 1/256 of the heap; up to five are held at a time
 * @param watch whose watch tells the commits, once there is no history left to read
 */
public record EtcdFeedOptions(
        long catchUpRevisions,
        long maxCommitBytes,
        Duration stallTimeout,
        Duration progressInterval,
        Duration requestTimeout,
        long pageBytes,
        WatchedVoter watch) {

    /** What the configuration's defaults are. */
    public static final EtcdFeedOptions DEFAULTS = new EtcdFeedOptions(
            5_000,
            64L << 20,
            Duration.ofSeconds(4),
            Duration.ofSeconds(1),
            Duration.ofSeconds(5),
            2L << 20,
            WatchedVoter.FOLLOWER);

    private static final Setting<Integer> CATCH_UP_REVISIONS = Setting.integer(
                    "catchUpRevisions",
                    "Maximum number of revisions to replay. Beyond it, the feed compares full state page by page, since replay"
                            + " is slow and delays etcd's writes. Does not apply to history consumers.")
            .defaultsTo(Math.toIntExact(DEFAULTS.catchUpRevisions()))
            .between(1, Integer.MAX_VALUE);
    private static final Setting<Long> MAX_COMMIT_BYTES = Setting.bytes(
                    "maxCommitBytes",
                    "Maximum size of the keys and values of one commit, which is buffered in memory. A larger commit"
                            + " is replaced by a snapshot.")
            .defaultsTo(DEFAULTS.maxCommitBytes())
            .between(1L << 20, 1L << 30);
    private static final Setting<Duration> STALL_TIMEOUT = Setting.duration(
                    "stallTimeout",
                    "Maximum time without a watch response, progress notifications included, before the feed switches to"
                            + " another member; at least twice the progressInterval.")
            .defaultsTo(DEFAULTS.stallTimeout())
            .between(Duration.ofMillis(200), Duration.ofMinutes(5));
    private static final Setting<Duration> PROGRESS_INTERVAL = Setting.duration(
                    "progressInterval", "Interval of progress requests on an idle watch.")
            .defaultsTo(DEFAULTS.progressInterval())
            .between(Duration.ofMillis(100), Duration.ofMinutes(1));
    private static final Setting<Duration> REQUEST_TIMEOUT = Setting.duration(
                    "requestTimeout", "Timeout of one snapshot page or read index request.")
            .defaultsTo(DEFAULTS.requestTimeout())
            .between(Duration.ofMillis(100), Duration.ofMinutes(5));
    private static final Setting<Long> PAGE_BYTES = Setting.bytes(
                    "pageBytes",
                    "Target size of a snapshot page, at most 1/256 of the Java heap; up to five pages are buffered.")
            .defaultsTo(DEFAULTS.pageBytes())
            .between(64L << 10, 32L << 20);
    private static final Setting<WatchedVoter> WATCH = Setting.choice(
                    "watch",
                    WatchedVoter.class,
                    "follower: watch a follower, which reduces load on the leader. leader: watch the current leader, which"
                            + " delivers commits slightly sooner; history is still read from a follower.")
            .defaultsTo(DEFAULTS.watch());

    /** How a feed behaves, as rows relative to the feed's group. */
    public static final List<Setting<?>> ROWS = List.of(
            CATCH_UP_REVISIONS, MAX_COMMIT_BYTES, STALL_TIMEOUT, PROGRESS_INTERVAL, REQUEST_TIMEOUT, PAGE_BYTES, WATCH);

    public EtcdFeedOptions {
        requirePositive("catchUpRevisions", catchUpRevisions);
        requirePositive("maxCommitBytes", maxCommitBytes);
        requirePositive("pageBytes", pageBytes);
        requirePositive("progressInterval", progressInterval.toNanos());
        requirePositive("requestTimeout", requestTimeout.toNanos());
        if (stallTimeout.compareTo(progressInterval.multipliedBy(2)) < 0) {
            throw new IllegalArgumentException("stallTimeout is " + stallTimeout.toMillis()
                    + " ms; must be at least twice the progressInterval of " + progressInterval.toMillis() + " ms");
        }
    }

    /**
     * What {@link #ROWS} say.
     *
     * @param group the part of the configuration the rows were put under
     * @throws IllegalArgumentException for a combination that can't work
     */
    public static EtcdFeedOptions from(Configuration group) {
        return new EtcdFeedOptions(
                group.get(CATCH_UP_REVISIONS),
                group.get(MAX_COMMIT_BYTES),
                group.get(STALL_TIMEOUT),
                group.get(PROGRESS_INTERVAL),
                group.get(REQUEST_TIMEOUT),
                group.get(PAGE_BYTES),
                group.get(WATCH));
    }

    /** The same with another limit of revisions to replay. */
    public EtcdFeedOptions withCatchUpRevisions(long revisions) {
        return new EtcdFeedOptions(
                revisions, maxCommitBytes, stallTimeout, progressInterval, requestTimeout, pageBytes, watch);
    }

    /** The same with another limit of a commit's bytes. */
    public EtcdFeedOptions withMaxCommitBytes(long bytes) {
        return new EtcdFeedOptions(
                catchUpRevisions, bytes, stallTimeout, progressInterval, requestTimeout, pageBytes, watch);
    }

    /** The same with progress requests at another interval. */
    public EtcdFeedOptions withProgressInterval(Duration interval) {
        return new EtcdFeedOptions(
                catchUpRevisions, maxCommitBytes, stallTimeout, interval, requestTimeout, pageBytes, watch);
    }

    /** The same with another deadline of a request. */
    public EtcdFeedOptions withRequestTimeout(Duration timeout) {
        return new EtcdFeedOptions(
                catchUpRevisions, maxCommitBytes, stallTimeout, progressInterval, timeout, pageBytes, watch);
    }

    /** The same with pages of another size. */
    public EtcdFeedOptions withPageBytes(long bytes) {
        return new EtcdFeedOptions(
                catchUpRevisions, maxCommitBytes, stallTimeout, progressInterval, requestTimeout, bytes, watch);
    }

    /** The same with the watch elsewhere. */
    public EtcdFeedOptions withWatch(WatchedVoter voter) {
        return new EtcdFeedOptions(
                catchUpRevisions, maxCommitBytes, stallTimeout, progressInterval, requestTimeout, pageBytes, voter);
    }

    private static void requirePositive(String name, long value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " is " + value + "; must be at least 1");
        }
    }
}
