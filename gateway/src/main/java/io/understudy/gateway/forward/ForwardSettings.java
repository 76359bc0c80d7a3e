package io.understudy.gateway.forward;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.time.Duration;
import java.util.List;

/**
 * What becomes of requests that the replica can't answer.
 *
 * @param timeout of calls that come without a deadline, streams and those that wait for other clients excepted; 100 ms to
 *     1 h
 * @param maxWatches forwarded at a time, 1 to 1,000,000; more are rejected
 */
public record ForwardSettings(Writes writes, Duration timeout, int maxWatches) {

    private static final Duration LEAST_TIMEOUT = Duration.ofMillis(100);
    private static final Duration MOST_TIMEOUT = Duration.ofHours(1);

    /** Longer than etcd takes to give up by itself, 7 s by default. */
    public static final ForwardSettings DEFAULTS = new ForwardSettings(Writes.REFUSE, Duration.ofSeconds(15), 1_000);

    private static final Setting<Writes> WRITES = Setting.choice(
                    "writes",
                    Writes.class,
                    "Handling of writes. refuse: reject them as a learner does. forward: forward them to the voting members.")
            .defaultsTo(DEFAULTS.writes);
    private static final Setting<Duration> TIMEOUT = Setting.duration(
                    "forward.timeout",
                    "Timeout of forwarded calls without a deadline. It does not apply to streams and to calls that wait for"
                            + " other clients, such as Lock. Also the maximum time that a call waits for a reachable member.")
            .defaultsTo(DEFAULTS.timeout)
            .between(LEAST_TIMEOUT, MOST_TIMEOUT);

    private static final Setting<Integer> MAX_WATCHES = Setting.integer(
                    "forward.maxWatches",
                    "Maximum number of forwarded watches; excess watches are rejected. With writes: forward, watches of keys"
                            + " outside range.prefix are forwarded.")
            .defaultsTo(DEFAULTS.maxWatches)
            .between(1, 1_000_000);

    /** The settings as rows. */
    public static final List<Setting<?>> ROWS = List.of(WRITES, TIMEOUT, MAX_WATCHES);

    public ForwardSettings {
        if (timeout.compareTo(LEAST_TIMEOUT) < 0 || timeout.compareTo(MOST_TIMEOUT) > 0) {
            throw new IllegalArgumentException(
                    "forward.timeout is " + timeout + "; allowed: " + LEAST_TIMEOUT + " to " + MOST_TIMEOUT);
        }
    }

    /** What {@link #ROWS} say. */
    public static ForwardSettings from(Configuration configuration) {
        return new ForwardSettings(
                configuration.get(WRITES), configuration.get(TIMEOUT), configuration.get(MAX_WATCHES));
    }

    /** The same but for what becomes of writes. */
    public ForwardSettings with(Writes other) {
        return new ForwardSettings(other, timeout, maxWatches);
    }
}
