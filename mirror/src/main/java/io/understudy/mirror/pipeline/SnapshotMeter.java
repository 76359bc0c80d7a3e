package io.understudy.mirror.pipeline;

import io.understudy.mirror.pipeline.MirrorReport.SnapshotProgress;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Measures how far a snapshot is copied, and logs it now and then. Thread-safe. */
final class SnapshotMeter {

    private static final Logger LOG = LoggerFactory.getLogger(SnapshotMeter.class);

    private static final long LOG_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final String mirror;
    private @Nullable CompletableFuture<Long> total;
    private long keys;
    private long startedNanos;
    private long loggedNanos;

    SnapshotMeter(String mirror) {
        this.mirror = mirror;
    }

    /** A snapshot begins, or restarts. */
    synchronized void started(CompletableFuture<Long> count) {
        total = count;
        keys = 0;
        startedNanos = System.nanoTime();
        loggedNanos = startedNanos;
    }

    synchronized void copied(long more) {
        keys += more;
        long now = System.nanoTime();
        SnapshotProgress progress = now - loggedNanos < LOG_NANOS ? null : report();
        if (progress != null) {
            loggedNanos = now;
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("keys", progress.keys())
                    .addKeyValue("total", shown(progress.total(), 1))
                    .addKeyValue("keys_per_second", Math.round(progress.keysPerSecond()))
                    .addKeyValue("remaining_s", shown(progress.remainingMillis(), TimeUnit.SECONDS.toMillis(1)))
                    .log("snapshot progress");
        }
    }

    /** Ends the progress of a complete or aborted snapshot. */
    synchronized void ended() {
        total = null;
    }

    /** Null while no snapshot is copied. */
    synchronized @Nullable SnapshotProgress report() {
        CompletableFuture<Long> counted = total;
        if (counted == null) {
            return null;
        }
        double seconds = (double) (System.nanoTime() - startedNanos) / TimeUnit.SECONDS.toNanos(1);
        double rate = seconds <= 0 ? 0 : keys / seconds;
        if (!counted.isDone() || counted.isCompletedExceptionally()) {
            return new SnapshotProgress(keys, OptionalLong.empty(), rate, OptionalLong.empty());
        }
        // More may have been put meanwhile than were counted.
        long all = Math.max(keys, counted.join());
        OptionalLong remaining =
                rate == 0 ? OptionalLong.empty() : OptionalLong.of(Math.round((all - keys) / rate * 1_000));
        return new SnapshotProgress(keys, OptionalLong.of(all), rate, remaining);
    }

    private static String shown(OptionalLong value, long unit) {
        return value.isPresent() ? Long.toString(value.getAsLong() / unit) : "unknown";
    }
}
