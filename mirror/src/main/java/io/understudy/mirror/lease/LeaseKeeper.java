package io.understudy.mirror.lease;

import io.understudy.mirror.call.CallFailedException;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the target's leases alive, and ends those that the source no longer has. A source that doesn't answer ends
 * none, however long; a slow source delays no keep-alive. Each cluster has its own thread, so that neither waits for
 * the other.
 *
 * <p>Invariant M10: no key expires in the target while its lease is alive at the source or the source is unreachable.
 */
final class LeaseKeeper implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(LeaseKeeper.class);

    private static final Duration TICK = Duration.ofMillis(100);
    private static final long CLOSE_SECONDS = 1;
    private static final int ALIVE_AT_A_TIME = 500;

    /** Bounds of the interval of checks at the source, which is a lease's TTL. */
    private static final long MIN_CHECK_SECONDS = 1;

    private static final long MAX_CHECK_SECONDS = 10;
    /** Maximum leases that are checked at the source per tick. */
    private static final int CHECKS_PER_TICK = 20;

    private final String mirror;
    private final KeptLeases leases;
    private final Supplier<Revision> complete;
    private final LeaseMetrics metrics;
    private final ScheduledExecutorService threads;

    private LeaseKeeper(String mirror, KeptLeases leases, Supplier<Revision> complete, LeaseMetrics metrics) {
        this.mirror = mirror;
        this.leases = leases;
        this.complete = complete;
        this.metrics = metrics;
        this.threads = Executors.newScheduledThreadPool(2, work -> {
            Thread thread = new Thread(work, "mirror-" + mirror + "-leases");
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Begins.
     *
     * @param complete up to where the target holds what the source had
     */
    static LeaseKeeper start(String mirror, KeptLeases leases, Supplier<Revision> complete, LeaseMetrics metrics) {
        LeaseKeeper keeper = new LeaseKeeper(mirror, leases, complete, metrics);
        keeper.every(TICK, "lease keep-alive failed", keeper::keepAlive);
        keeper.every(TICK, "lease comparison with the source failed", keeper::check);
        return keeper;
    }

    /** Stops keeping leases alive; they stay for as long as they were granted for. Idempotent. */
    @Override
    public void close() {
        threads.shutdownNow();
        try {
            if (!threads.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                LOG.atWarn().addKeyValue("mirror", mirror).log("lease keep-alive did not stop in time");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        metrics.held(0);
    }

    @FunctionalInterface
    private interface Work {
        void run() throws CallFailedException, InterruptedException;
    }

    private void every(Duration pause, String what, Work work) {
        var unused = threads.scheduleWithFixedDelay(
                () -> {
                    try {
                        work.run();
                    } catch (CallFailedException e) {
                        LOG.atDebug()
                                .addKeyValue("mirror", mirror)
                                .addKeyValue("cause", e.getMessage())
                                .log(what);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    } catch (RuntimeException | Error e) {
                        LOG.atWarn().addKeyValue("mirror", mirror).setCause(e).log(what);
                    }
                },
                0,
                pause.toMillis(),
                TimeUnit.MILLISECONDS);
    }

    private void keepAlive() throws CallFailedException, InterruptedException {
        metrics.held(leases.held().size());
        while (true) {
            long now = System.nanoTime();
            List<HeldLease> due = leases.held().stream()
                    .filter(lease -> lease.isDue(now))
                    .limit(ALIVE_AT_A_TIME)
                    .toList();
            if (due.isEmpty()) {
                return;
            }
            leases.keepAlive(due);
        }
    }

    private void check() throws CallFailedException, InterruptedException {
        long now = System.nanoTime();
        List<HeldLease> some = leases.held().stream()
                .filter(lease -> now - lease.checkedAt() > between(lease))
                .map(lease -> Map.entry(lease.checkedAt(), lease))
                .sorted(Map.Entry.comparingByKey())
                .limit(CHECKS_PER_TICK)
                .map(Map.Entry::getValue)
                .toList();
        for (HeldLease lease : some) {
            leases.check(lease);
            Revision goneAt = lease.goneAt();
            if (goneAt != null && !complete.get().isBefore(goneAt) && leases.end(lease)) {
                LOG.atDebug()
                        .addKeyValue("mirror", mirror)
                        .addKeyValue("lease", Long.toHexString(lease.id()))
                        .log("lease revoked");
            }
        }
    }

    private static long between(HeldLease lease) {
        return TimeUnit.SECONDS.toNanos(Math.max(MIN_CHECK_SECONDS, Math.min(MAX_CHECK_SECONDS, lease.seconds())));
    }
}
