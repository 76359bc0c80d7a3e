package io.understudy.gateway.history;

import io.understudy.feed.etcd.EtcdFeedSource;
import io.understudy.gateway.replica.Replica;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.DaemonThreads;
import io.understudy.vocabulary.Revision;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies the source's compactions to the replica. None is announced by etcd, so one read of a single key every ten
 * seconds shows whether the source still has the oldest revision that the replica serves.
 */
public final class Compactions implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Compactions.class);

    private static final long INTERVAL_SECONDS = 10;

    private final Replica replica;
    private final EtcdFeedSource source;
    private final BooleanSupplier follows;
    private final ScheduledExecutorService thread =
            Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("compactions"));

    /** @param follows whether the replica follows that source */
    public Compactions(Replica replica, EtcdFeedSource source, BooleanSupplier follows) {
        this.replica = replica;
        this.source = source;
        this.follows = follows;
    }

    public void start() {
        var unused = thread.scheduleAtFixedRate(this::check, INTERVAL_SECONDS, INTERVAL_SECONDS, TimeUnit.SECONDS);
    }

    /** Interrupts a check under way. Idempotent. */
    @Override
    public void close() {
        thread.shutdownNow();
    }

    /** A check that fails leaves the rest to the next one. */
    private void check() {
        Revision oldest = replica.oldest();
        ClusterId followed = replica.cluster();
        if (oldest == null || oldest.value() < 1 || followed == null || !follows.getAsBoolean()) {
            return;
        }
        try {
            Revision readable = source.oldest(replica.range(), oldest);
            if (readable != null && readable.isAfter(oldest)) {
                replica.compacted(followed, readable);
                LOG.atInfo().addKeyValue("compacted", readable).log("source compacted");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.atWarn().setCause(e).log("compaction check failed; retrying");
        }
    }
}
