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
 * Whether the source has authentication enabled: asked about once a second, beside all requests. While nobody can be asked
 * what was last known holds, as it does in a member that has lost the others. For any thread.
 */
final class Authentication implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Authentication.class);

    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Until it is known. */
    private static final long FIRST_PAUSE_MILLIS = 50;

    enum State {
        /** Nobody has told yet. */
        UNKNOWN,
        OFF,
        ON
    }

    private final Supplier<CompletableFuture<Boolean>> question;
    private final AtomicReference<@Nullable CompletableFuture<Void>> underWay = new AtomicReference<>();
    private volatile State state = State.UNKNOWN;
    private volatile long readNanos;
    /** Switches known for certain; a state that was read before the last one may be out of date. Changed under this object's lock. */
    private volatile int switches;

    private volatile @Nullable ScheduledFuture<?> timer;

    /** {@code question} is whether it is enabled; its answer fails if nobody can tell. */
    Authentication(Supplier<CompletableFuture<Boolean>> question) {
        this.question = question;
    }

    /** Begins to ask, on {@code thread}. */
    void start(ScheduledExecutorService thread) {
        timer = thread.scheduleAtFixedRate(this::tick, 0, FIRST_PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    }

    private void tick() {
        if (state == State.UNKNOWN || System.nanoTime() - readNanos >= PAUSE_NANOS) {
            var unused = ask();
        }
    }

    State state() {
        return state;
    }

    /** Asks now, unless that is under way; completes, never with a failure, when it is known what comes of it. */
    CompletableFuture<Void> ask() {
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
            answer = question.get();
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

    /** It was switched: a member that lags would still report the former state. */
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

    /** Asks no more. */
    @Override
    public void close() {
        ScheduledFuture<?> running = timer;
        if (running != null) {
            boolean unused = running.cancel(false);
        }
    }
}
