package io.understudy.gateway.verify;

import io.understudy.config.Binder;
import io.understudy.config.Configured;
import java.time.Duration;

/** How often and how fast the replica is compared with its source. */
@Configured.Group("verify")
public record VerifySettings(
        @Configured(
                value = "Pause between full comparisons of the replica with the source.",
                byDefault = "10m",
                range = "100ms..30d")
        Duration interval,

        @Configured(
                value = "Maximum rate of keys and values read for the comparison, from a learner where one exists.",
                byDefault = "4MiB",
                range = "64KiB..1GiB",
                bytes = true)
        long bytesPerSecond) {

    public static final VerifySettings DEFAULTS = Binder.defaults(VerifySettings.class);
}
