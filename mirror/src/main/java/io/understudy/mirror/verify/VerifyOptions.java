package io.understudy.mirror.verify;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.util.List;

/**
 * How a mirror compares its target with its source while it runs.
 *
 * @param keysPerSecond of either side, at most; 0 for never
 */
public record VerifyOptions(int keysPerSecond, ForeignWrites onForeignWrites) {

    /** The configuration's. */
    public static final VerifyOptions DEFAULTS = new VerifyOptions(1_000, ForeignWrites.REPORT);

    private static final Setting<Integer> KEYS_PER_SECOND = Setting.integer(
                    "verifyKeysPerSecond",
                    "Rate of background verification, in keys per second and cluster; 0 disables it. Not"
                            + " supported for Kafka sources; use \"understudy mirror verify\".")
            .defaultsTo(DEFAULTS.keysPerSecond())
            .between(0, 1_000_000);
    /** Repairs need a source that can be asked for single keys. */
    public static final Setting<ForeignWrites> ON_FOREIGN_WRITES = Setting.choice(
                    "onForeignWrites",
                    ForeignWrites.class,
                    "Action if another client writes to the mirrored range in the target. report: report the keys."
                            + " repair: report and repair them.")
            .defaultsTo(DEFAULTS.onForeignWrites());

    /** The rows of all that can be configured, relative to the target's group. */
    public static final List<Setting<?>> ROWS = List.of(KEYS_PER_SECOND, ON_FOREIGN_WRITES);

    /** What {@link #ROWS} say. */
    public static VerifyOptions from(Configuration group) {
        return new VerifyOptions(group.get(KEYS_PER_SECOND), group.get(ON_FOREIGN_WRITES));
    }
}
