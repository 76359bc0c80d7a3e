package io.understudy.gateway.read;

import io.understudy.gateway.api.ApiException;
import io.vertx.core.Context;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reads of one event loop that wait, for a read-index round or for a revision to be applied. They are told on this
 * loop, all readers of one round by one hand-over. Used on the loop, save for {@link #published}.
 */
final class LoopWaits {

    private static final Logger LOG = LoggerFactory.getLogger(LoopWaits.class);

    /** How exactly deadlines are kept, and how often the source is asked again how far it is. */
    private static final long SWEEP_MILLIS = 10;

    private final Context loop;
    private final Confirmations confirmations;
    private final LongSupplier applied;
    private final Runnable askProgress;
    private final int maxWaiting;

    private final PriorityQueue<Wait> byRevision = new PriorityQueue<>(Comparator.comparingLong(wait -> wait.revision));
    private List<Wait> live = new ArrayList<>();
    private @Nullable Batch gathering;
    private int waiting;
    private boolean sweeping;
    /** Below it nobody waits. Lowered and raised on the loop; the publishing thread takes it away to wake the loop. */
    private volatile long lowest = Long.MAX_VALUE;

    private static final class Wait {
        private final PendingRead<?> read;
        private final long revision;
        private final long deadlineNanos;
        private boolean over;

        Wait(PendingRead<?> read, long revision, long deadlineNanos) {
            this.read = read;
            this.revision = revision;
            this.deadlineNanos = deadlineNanos;
        }
    }

    /**
     * @param applied the revision that all loops can read, on any thread
     * @param askProgress has the source tell how far it is; bounds the rate itself
     */
    LoopWaits(Context loop, Confirmations confirmations, LongSupplier applied, Runnable askProgress, int maxWaiting) {
        this.loop = loop;
        this.confirmations = confirmations;
        this.applied = applied;
        this.askProgress = askProgress;
        this.maxWaiting = maxWaiting;
    }

    /**
     * Waits for a round that is sent from now on; should one fail, for the next.
     *
     * @throws ApiException too many wait already
     */
    void forRound(long deadlineNanos, PendingRead<?> read) throws ApiException {
        ride(add(new Wait(read, 0, deadlineNanos)));
    }

    /**
     * Waits until the revision is applied.
     *
     * @throws ApiException too many wait already
     */
    void forRevision(long revision, long deadlineNanos, PendingRead<?> read) throws ApiException {
        byRevision.add(add(new Wait(read, revision, deadlineNanos)));
        lowest = Math.min(lowest, revision);
        if (applied.getAsLong() >= revision) {
            wake();
        } else {
            askProgress.run();
        }
    }

    /** A revision was applied. For the thread that publishes states, after it has. */
    void published(long revision) {
        if (revision >= lowest) {
            lowest = Long.MAX_VALUE;
            wake();
        }
    }

    /** There is nothing that a revision could be applied to. For the thread that publishes states. */
    void dropped() {
        loop.runOnContext(told -> {
            List<Wait> waits = new ArrayList<>(byRevision);
            byRevision.clear();
            lowest = Long.MAX_VALUE;
            for (Wait wait : waits) {
                deliver(wait, PendingRead::dropped);
            }
        });
    }

    private void wake() {
        loop.runOnContext(woken -> tellApplied());
    }

    private Wait add(Wait wait) throws ApiException {
        if (waiting >= maxWaiting) {
            throw ApiException.tooManyRequests();
        }
        waiting++;
        live.add(wait);
        if (!sweeping) {
            sweeping = true;
            sweepLater();
        }
        return wait;
    }

    private void ride(Wait wait) {
        Batch batch = gathering;
        if (batch == null || batch.sent) {
            batch = new Batch();
            batch.waits.add(wait);
            gathering = batch;
            confirmations.join(batch);
        } else {
            // Should it be sent this very moment: the read was here before that.
            batch.waits.add(wait);
            confirmations.joined();
        }
    }

    private void rideAgain(Wait wait) {
        try {
            ride(wait);
        } catch (RuntimeException | Error e) {
            deliver(wait, read -> read.failed(e));
        }
    }

    private void tellApplied() {
        long revision;
        long next;
        do {
            revision = applied.getAsLong();
            for (Wait wait = byRevision.peek(); wait != null && wait.revision <= revision; wait = byRevision.peek()) {
                Wait unused = byRevision.remove();
                deliver(wait, PendingRead::met);
            }
            Wait first = byRevision.peek();
            next = first == null ? Long.MAX_VALUE : first.revision;
            lowest = next;
        } while (applied.getAsLong() >= next);
    }

    private void sweepLater() {
        long unused = loop.owner().setTimer(SWEEP_MILLIS, fired -> sweep());
    }

    private void sweep() {
        long now = System.nanoTime();
        List<Wait> before = live;
        live = new ArrayList<>();
        List<Wait> expired = new ArrayList<>();
        List<Wait> gone = new ArrayList<>();
        for (Wait wait : before) {
            if (!wait.over) {
                boolean late = now - wait.deadlineNanos >= 0;
                (wait.read.isGone() ? gone : late ? expired : live).add(wait);
            }
        }
        try {
            for (Wait wait : gone) {
                deliver(wait, PendingRead::abandoned);
            }
            for (Wait wait : expired) {
                deliver(wait, PendingRead::expired);
            }
            if (!gone.isEmpty() || !expired.isEmpty()) {
                boolean unused = byRevision.removeIf(wait -> wait.over);
            }
            if (!byRevision.isEmpty()) {
                askProgress.run();
            }
        } finally {
            // Whatever went wrong with one read, the others' deadlines hold.
            sweeping = !live.isEmpty();
            if (sweeping) {
                sweepLater();
            }
        }
    }

    /** Ends a wait, unless it is over. Whatever goes wrong with this read, others are told after it. */
    private void deliver(Wait wait, Consumer<PendingRead<?>> what) {
        if (!end(wait)) {
            return;
        }
        try {
            what.accept(wait.read);
        } catch (RuntimeException | Error e) {
            fail(wait.read, e);
        }
    }

    private static void fail(PendingRead<?> read, Throwable why) {
        try {
            read.failed(why);
        } catch (RuntimeException | Error e) {
            LOG.error("completing a failed read failed", e);
        }
    }

    /** Ends a wait, once: true for who came first. */
    private boolean end(Wait wait) {
        if (wait.over) {
            return false;
        }
        wait.over = true;
        waiting--;
        return true;
    }

    /** Reads of this loop that share a round. */
    private final class Batch implements Confirmations.Rider {

        /** Of the loop. */
        private final List<Wait> waits = new ArrayList<>();

        private volatile boolean sent;

        @Override
        public void sent() {
            sent = true;
        }

        @Override
        public void confirmed(long revision, long asOfNanos) {
            loop.runOnContext(told -> {
                for (Wait wait : waits) {
                    deliver(wait, read -> read.confirmed(revision, asOfNanos));
                }
            });
        }

        @Override
        public void failed(@Nullable ApiException fatal) {
            loop.runOnContext(told -> {
                for (Wait wait : waits) {
                    if (fatal != null) {
                        deliver(wait, read -> read.failed(fatal));
                    } else if (!wait.over) {
                        rideAgain(wait);
                    }
                }
            });
        }
    }
}
