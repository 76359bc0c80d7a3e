package io.understudy.gateway.permission;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks whether the source has authentication enabled, polled once a second. While no member answers, the last known
 * state holds, as in a member without quorum. Thread-safe.
 */
final class Authentication implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Authentication.class);

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Polling interval while the state is unknown. */
    private static final long FIRST_PAUSE_MILLIS = 50;

    enum State {
        /** Not reported yet. */
        UNKNOWN,
        OFF,
        ON
    }

    private final Supplier<CompletableFuture<Boolean>> query;
    private final AtomicReference<@Nullable CompletableFuture<Void>> underWay = new AtomicReference<>();
    private volatile State state = State.UNKNOWN;
    private volatile long readNanos;
    /** Number of known switches; a state read before the last one may be outdated. Guarded by this. */
    private volatile int switches;

    private volatile @Nullable ScheduledFuture<?> timer;

    /** @param query reads whether authentication is enabled; fails if unknown */
    Authentication(Supplier<CompletableFuture<Boolean>> query) {
        this.query = query;
    }

    /** Starts polling on {@code thread}. */
    void start(ScheduledExecutorService thread) {
        timer = thread.scheduleAtFixedRate(this::tick, 0, FIRST_PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void tick() {
        if (state == State.UNKNOWN || System.nanoTime() - readNanos >= PAUSE_NANOS) {
            var unused = refresh();
        }
    }

    State state() {
        return state;
    }

    /** Reads the state now, or joins the read under way. Completes when that has ended, never exceptionally. */
    CompletableFuture<Void> refresh() {
        CompletableFuture<Void> round = new CompletableFuture<>();
        while (!underWay.compareAndSet(null, round)) {
            CompletableFuture<Void> other = underWay.get();
            if (other != null) {
                return other;
            }
        }
        readNanos = System.nanoTime();
        int before = switches;
        CompletableFuture<Boolean> answer;
        try {
            answer = query.get();
        } catch (RuntimeException e) {
            answer = CompletableFuture.failedFuture(e);
        }
        var unused = answer.handle((enabled, failure) -> {
            if (failure == null) {
                answered(enabled, before);
            } else {
                LOG.atDebug()
                        .addKeyValue("cause", failure.toString())
                        .log("authentication state of the source unknown");
            }
            underWay.set(null);
            return round.complete(null);
        });
        return round;
    }

    /** Records a switch: a lagging member would still report the former state. */
    synchronized void switched(boolean enabled) {
        switches++;
        readNanos = System.nanoTime();
        set(enabled ? State.ON : State.OFF);
    }

    private synchronized void answered(boolean enabled, int before) {
        if (before == switches) {
            set(enabled ? State.ON : State.OFF);
        }
    }

    private void set(State now) {
        State before = state;
        state = now;
        if (before != now) {
            LOG.atInfo()
                    .addKeyValue("from", before)
                    .addKeyValue("to", now)
                    .log("authentication state of the source changed");
        }
    }

    /** Stops polling. */
    @Override
    public void close() {
        ScheduledFuture<?> running = timer;
        if (running != null) {
            boolean unused = running.cancel(false);
        }
    }
}
