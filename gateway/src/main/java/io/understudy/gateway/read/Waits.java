package io.understudy.gateway.read;

import io.vertx.core.Vertx;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

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
}
