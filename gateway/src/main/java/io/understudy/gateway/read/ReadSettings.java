package io.understudy.gateway.read;

import io.understudy.config.Binder;
import io.understudy.config.Configured;
import java.time.Duration;

/** Limits of reads. */
@Configured.Group("reads")
public record ReadSettings(
        @Configured(
                value =
                        "Maximum duration of a read; 7 s in etcd. A client can set a shorter deadline. The transfer of a"
                                + " response from the source has one more minute.",
                byDefault = "7s",
                range = "100ms..5m")
        Duration timeout,

        @Configured(
                value = "Maximum time that a read waits for the requested staleness or revision.",
                byDefault = "1s",
                range = "10ms..5m")
        Duration freshnessTimeout,

        @Configured(
                value = "Time after which a read-index round without an answer counts as failed. A later answer still"
                        + " serves reads.",
                byDefault = "1s",
                range = "50ms..1m")
        Duration roundTimeout,

        @Configured(
                value = "Interval of read-index rounds without linearizable reads. It determines the accuracy of the"
                        + " staleness. A read with a shorter maximum staleness may wait for a round.",
                byDefault = "1s",
                range = "10ms..1m")
        Duration asOfInterval,

        @Configured(
                value = "Maximum number of reads waiting on one event loop; excess reads are rejected.",
                byDefault = "100000",
                range = "1..2147483647")
        int maxWaiting,

        @Configured(
                value = "Maximum number of concurrent reads proxied to the source; excess reads are queued.",
                byDefault = "16",
                range = "1..100000")
        int maxPassedThrough,

        @Configured(
                value =
                        "Maximum encoded size of proxied responses held until clients have read them, at most a quarter of"
                                + " the Java heap; excess reads are queued. Unread responses to other calls, and those"
                                + " above 8 KiB, may take a quarter of it in addition; excess calls fail. A range"
                                + " without a limit counts as 64 MiB, a larger one as its estimated size, until its"
                                + " response arrives.",
                byDefault = "256MiB",
                range = "1MiB..1TiB",
                bytes = true)
        long maxPassedThroughBytes) {

    public static final ReadSettings DEFAULTS = Binder.defaults(ReadSettings.class);

    /** Maximum encoded size of all proxied responses that are held. */
    long mostHeldBytes() {
        return Math.min(maxPassedThroughBytes, Runtime.getRuntime().maxMemory() / 4);
    }
}
