package io.understudy.gateway.verify;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.time.Duration;
import java.util.List;

/**
 * How often and how fast the replica is compared with its source.
 *
 * @param interval between the end of one comparison and the begin of the next
 * @param bytesPerSecond of keys and values that are read for it
 */
public record VerifySettings(Duration interval, long bytesPerSecond) {

    public static final VerifySettings DEFAULTS = new VerifySettings(Duration.ofMinutes(10), 4L << 20);

    private static final Setting<Duration> INTERVAL = Setting.duration(
                    "verify.interval", "Pause between full comparisons of the replica with the source.")
            .defaultsTo(DEFAULTS.interval)
            .between(Duration.ofMillis(100), Duration.ofDays(30));
    private static final Setting<Long> BYTES_PER_SECOND = Setting.bytes(
                    "verify.bytesPerSecond",
                    "Maximum rate of keys and values read for the comparison, from a learner where one exists.")
            .defaultsTo(DEFAULTS.bytesPerSecond)
            .between(64L << 10, 1L << 30);

    /** The settings as rows. */
    public static final List<Setting<?>> ROWS = List.of(INTERVAL, BYTES_PER_SECOND);

    public VerifySettings {
        if (interval.isNegative() || bytesPerSecond < 1) {
            throw new IllegalArgumentException("verify.interval is " + interval + ", verify.bytesPerSecond "
                    + bytesPerSecond + "; allowed: 0 or more, and 1 or more");
        }
    }

    /** What {@link #ROWS} say. */
    public static VerifySettings from(Configuration configuration) {
        return new VerifySettings(configuration.get(INTERVAL), configuration.get(BYTES_PER_SECOND));
    }
}
