package io.understudy.gateway.read;

import io.understudy.gateway.api.ApiException;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Waiting reads of all event loops. Thread-safe. */
final class Waits {

    private final Vertx vertx;
    private final Confirmations confirmations;
    private final LongSupplier applied;
    private final Runnable requestProgress;
    private final int maxWaiting;
    private final Map<Thread, LoopWaits> loops = new ConcurrentHashMap<>();
    /** Values of {@link #loops}, for iteration at each commit. */
    private volatile LoopWaits[] all = {};

    /** Parameters as for {@link LoopWaits}. */
    Waits(Vertx vertx, Confirmations confirmations, LongSupplier applied, Runnable requestProgress, int maxWaiting) {
        this.vertx = vertx;
        this.confirmations = confirmations;
        this.applied = applied;
        this.requestProgress = requestProgress;
        this.maxWaiting = maxWaiting;
    }

    /** Returns the waits of the current event loop. */
    LoopWaits here() {
        LoopWaits known = loops.get(Thread.currentThread());
        return known == null ? begin() : known;
    }

    /** Resumes reads that wait for the revision, which is readable now. */
    void published(long revision) {
        for (LoopWaits loop : all) {
            loop.published(revision);
        }
    }

    /** Ends all waits for a revision, since the replica was dropped. */
    void dropped() {
        for (LoopWaits loop : all) {
            loop.dropped();
        }
    }

    private synchronized LoopWaits begin() {
        LoopWaits made = new LoopWaits(vertx.getOrCreateContext(), confirmations, applied, requestProgress, maxWaiting);
        loops.put(Thread.currentThread(), made);
        all = loops.values().toArray(new LoopWaits[0]);
        return made;
    }

    /**
     * Reads of one event loop that wait for a read-index round or an applied revision. All reads of a round are resumed by
     * one task on the loop. Confined to the loop, except {@link #published}.
     */
    static final class LoopWaits {

        private static final Logger LOG = LoggerFactory.getLogger(LoopWaits.class);

        /** Interval of deadline checks and of progress requests to the source. */
        private static final long SWEEP_MILLIS = 10;

        private final Context loop;
        private final Confirmations confirmations;
        private final LongSupplier applied;
        private final Runnable requestProgress;
        private final int maxWaiting;

        private final PriorityQueue<Wait> byRevision =
                new PriorityQueue<>(Comparator.comparingLong(wait -> wait.revision));
        private List<Wait> live = new ArrayList<>();
        private @Nullable Batch gathering;
        private int waiting;
        private boolean sweeping;
        /** Lowest awaited revision. Maintained on the loop; the publishing thread resets it when it wakes the loop. */
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
         * @param applied the revision that all loops can read; called on any thread
         * @param requestProgress requests a progress notification; limits the rate itself
         */
        LoopWaits(
                Context loop,
                Confirmations confirmations,
                LongSupplier applied,
                Runnable requestProgress,
                int maxWaiting) {
            this.loop = loop;
            this.confirmations = confirmations;
            this.applied = applied;
            this.requestProgress = requestProgress;
            this.maxWaiting = maxWaiting;
        }

        /**
         * Waits for a round sent from now on; if that fails, for the next.
         *
         * @throws ApiException if too many reads wait
         */
        void forRound(long deadlineNanos, PendingRead<?> read) throws ApiException {
            ride(add(new Wait(read, 0, deadlineNanos)));
        }

        /**
         * Waits until the revision is applied.
         *
         * @throws ApiException if too many reads wait
         */
        void forRevision(long revision, long deadlineNanos, PendingRead<?> read) throws ApiException {
            byRevision.add(add(new Wait(read, revision, deadlineNanos)));
            lowest = Math.min(lowest, revision);
            if (applied.getAsLong() >= revision) {
                wake();
            } else {
                requestProgress.run();
            }
        }

        /** Resumes reads that wait for the revision. For the publishing thread, after publication. */
        void published(long revision) {
            if (revision >= lowest) {
                lowest = Long.MAX_VALUE;
                wake();
            }
        }

        /** Ends all waits for a revision, since the replica was dropped. For the publishing thread. */
        void dropped() {
            loop.runOnContext(now -> {
                List<Wait> waits = new ArrayList<>(byRevision);
                byRevision.clear();
                lowest = Long.MAX_VALUE;
                for (Wait wait : waits) {
                    deliver(wait, PendingRead::dropped);
                }
            });
        }

        private void wake() {
            loop.runOnContext(woken -> completeApplied());
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
                // Even if it is sent right now: the read arrived before.
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

        private void completeApplied() {
            long revision;
            long next;
            do {
                revision = applied.getAsLong();
                for (Wait wait = byRevision.peek();
                        wait != null && wait.revision <= revision;
                        wait = byRevision.peek()) {
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
                    requestProgress.run();
                }
            } finally {
                // A failure of one read must not end the deadline checks.
                sweeping = !live.isEmpty();
                if (sweeping) {
                    sweepLater();
                }
            }
        }

        /** Ends a wait, unless it is over. A failure of one read does not affect the others. */
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

        /** Ends a wait; false if it was over. */
        private boolean end(Wait wait) {
            if (wait.over) {
                return false;
            }
            wait.over = true;
            waiting--;
            return true;
        }

        /** Reads of this loop that share one round. */
        private final class Batch implements Confirmations.Rider {

            /** Confined to the loop. */
            private final List<Wait> waits = new ArrayList<>();

            private volatile boolean sent;

            @Override
            public void sent() {
                sent = true;
            }

            @Override
            public void confirmed(long revision, long asOfNanos) {
                loop.runOnContext(now -> {
                    for (Wait wait : waits) {
                        deliver(wait, read -> read.confirmed(revision, asOfNanos));
                    }
                });
            }

            @Override
            public void failed(@Nullable ApiException fatal) {
                loop.runOnContext(now -> {
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
}
