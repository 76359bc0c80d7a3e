package io.understudy.gateway.read;

import io.vertx.core.Vertx;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** The waiting reads of all event loops. For any thread. */
final class Waits {

    private final Vertx vertx;
    private final Confirmations confirmations;
    private final LongSupplier applied;
    private final Runnable askProgress;
    private final int maxWaiting;
    private final Map<Thread, LoopWaits> loops = new ConcurrentHashMap<>();
    /** The map's values, to go through them at each commit. */
    private volatile LoopWaits[] all = {};

    /** Parameters as for {@link LoopWaits}. */
    Waits(Vertx vertx, Confirmations confirmations, LongSupplier applied, Runnable askProgress, int maxWaiting) {
        this.vertx = vertx;
        this.confirmations = confirmations;
        this.applied = applied;
        this.askProgress = askProgress;
        this.maxWaiting = maxWaiting;
    }

    /** Those of the current event loop. */
    LoopWaits here() {
        LoopWaits known = loops.get(Thread.currentThread());
        return known == null ? begin() : known;
    }

    /** A revision was applied, and can be read. */
    void published(long revision) {
        for (LoopWaits loop : all) {
            loop.published(revision);
        }
    }

    /** There is no state any more. */
    void dropped() {
        for (LoopWaits loop : all) {
            loop.dropped();
        }
    }

    private synchronized LoopWaits begin() {
        LoopWaits made = new LoopWaits(vertx.getOrCreateContext(), confirmations, applied, askProgress, maxWaiting);
        loops.put(Thread.currentThread(), made);
        all = loops.values().toArray(new LoopWaits[0]);
        return made;
    }
}
