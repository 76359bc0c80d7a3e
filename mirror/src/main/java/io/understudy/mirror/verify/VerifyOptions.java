package io.understudy.mirror.verify;

import io.understudy.config.Binder;
import io.understudy.config.Configured;

/** Options of the comparison with the source while a mirror runs. */
public record VerifyOptions(
        @Configured(
                key = "verifyKeysPerSecond",
                value =
                        "Rate of background verification, in keys per second and cluster; 0 disables it. Not supported for"
                                + " Kafka sources; use \"understudy mirror verify\".",
                byDefault = "1000",
                range = "0..1000000")
        int keysPerSecond,

        @Configured(
                value = "Action if another client writes to the mirrored range in the target. report: report the keys."
                        + " repair: report and repair them.",
                byDefault = "report")
        ForeignWrites onForeignWrites) {

    public static final VerifyOptions DEFAULTS = Binder.defaults(VerifyOptions.class);

    /** Reaction to a foreign write to a mirrored key of the target. */
    public enum ForeignWrites {
        /** Log and count it. */
        REPORT,
        /** Log and count it, and restore the source's value. */
        REPAIR
    }
}
