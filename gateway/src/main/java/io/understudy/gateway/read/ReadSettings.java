package io.understudy.gateway.read;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.time.Duration;
import java.util.List;

/**
 * How long reads wait, and for what.
 *
 * @param timeout of a read in all, 100 ms to 5 min; a client's own deadline may end it sooner. etcd's is 7 s
 * @param freshnessTimeout how long an answer that is too old is waited for to become fresh enough, 10 ms to 5 min
 * @param roundTimeout deadline of one read-index round, after which the next may start, 50 ms to 1 min
 * @param asOfInterval how often a round is sent when no linearizable read asks for one, 10 ms to 1 min
 * @param maxWaiting reads that wait on one event loop, 1 to 2^31-1; more are refused
 * @param maxPassedThrough reads under way at the source at a time, 1 to 100,000
 * @param maxPassedThroughBytes of their answers, from the request until the client has taken them, at least 1 MiB
 */
public record ReadSettings(
        Duration timeout,
        Duration freshnessTimeout,
        Duration roundTimeout,
        Duration asOfInterval,
        int maxWaiting,
        int maxPassedThrough,
        long maxPassedThroughBytes) {

    public static final ReadSettings DEFAULTS = new ReadSettings(
            Duration.ofSeconds(7),
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            Duration.ofMillis(200),
            100_000,
            16,
            256L << 20);

    private static final Setting<Duration> TIMEOUT = Setting.duration(
                    "reads.timeout",
                    "Maximum duration of a read; 7 s in etcd. A client can set a shorter deadline. The transfer of a response from"
                            + " the source has one more minute.")
            .defaultsTo(DEFAULTS.timeout)
            .between(Duration.ofMillis(100), Duration.ofMinutes(5));
    private static final Setting<Duration> FRESHNESS_TIMEOUT = Setting.duration(
                    "reads.freshnessTimeout", "Maximum time that a read waits for the requested staleness or revision.")
            .defaultsTo(DEFAULTS.freshnessTimeout)
            .between(Duration.ofMillis(10), Duration.ofMinutes(5));
    private static final Setting<Duration> ROUND_TIMEOUT = Setting.duration(
                    "reads.roundTimeout", "Timeout of one read-index round. The next round can start afterwards.")
            .defaultsTo(DEFAULTS.roundTimeout)
            .between(Duration.ofMillis(50), Duration.ofMinutes(1));
    private static final Setting<Duration> AS_OF_INTERVAL = Setting.duration(
                    "reads.asOfInterval",
                    "Interval of read-index rounds without linearizable reads. It determines the accuracy of the staleness.")
            .defaultsTo(DEFAULTS.asOfInterval)
            .between(Duration.ofMillis(10), Duration.ofMinutes(1));
    private static final Setting<Integer> MAX_WAITING = Setting.integer(
                    "reads.maxWaiting", "Maximum number of reads waiting on one event loop; excess reads are rejected.")
            .defaultsTo(DEFAULTS.maxWaiting)
            .between(1, Integer.MAX_VALUE);
    private static final Setting<Integer> MAX_PASSED_THROUGH = Setting.integer(
                    "reads.maxPassedThrough",
                    "Maximum number of concurrent reads proxied to the source; excess reads are queued.")
            .defaultsTo(DEFAULTS.maxPassedThrough)
            .between(1, 100_000);

    private static final Setting<Long> MAX_PASSED_THROUGH_BYTES = Setting.bytes(
                    "reads.maxPassedThroughBytes",
                    "Maximum encoded size of proxied responses held until clients have read them, at most a quarter of the"
                            + " Java heap; excess reads are queued. A range without a limit counts as 64 MiB until its"
                            + " response arrives.")
            .defaultsTo(DEFAULTS.maxPassedThroughBytes)
            .between(1L << 20, 1L << 40);

    /** The settings as rows. */
    public static final List<Setting<?>> ROWS = List.of(
            TIMEOUT,
            FRESHNESS_TIMEOUT,
            ROUND_TIMEOUT,
            AS_OF_INTERVAL,
            MAX_WAITING,
            MAX_PASSED_THROUGH,
            MAX_PASSED_THROUGH_BYTES);

    /** What {@link #ROWS} say. */
    public static ReadSettings from(Configuration configuration) {
        return new ReadSettings(
                configuration.get(TIMEOUT),
                configuration.get(FRESHNESS_TIMEOUT),
                configuration.get(ROUND_TIMEOUT),
                configuration.get(AS_OF_INTERVAL),
                configuration.get(MAX_WAITING),
                configuration.get(MAX_PASSED_THROUGH),
                configuration.get(MAX_PASSED_THROUGH_BYTES));
    }
}
