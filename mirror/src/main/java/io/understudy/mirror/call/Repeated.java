package io.understudy.mirror.call;

import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Repeats calls, with growing pauses, until they are answered: for threads that require the answer.
 *
 * <p>Calls to a mirror's source are limited by patience. A sink that waited for its source would keep the mirror from
 * noticing that its target has become the primary.
 *
 * <p>Thread-safe.
 */
public final class Repeated {

    private static final long FIRST_PAUSE_MILLIS = 20;
    private static final long MAX_PAUSE_MILLIS = 2_000;
    private static final int MAX_DOUBLINGS = 10;

    private final SinkListener listener;
    /** Null for no limit. */
    private final @Nullable Duration patience;

    /** @param listener receives each failure, and its end */
    public Repeated(SinkListener listener) {
        this(listener, null);
    }

    /** @param patience time after which the second or a later failure is thrown */
    public Repeated(SinkListener listener, @Nullable Duration patience) {
        this.listener = listener;
        this.patience = patience;
    }

    /** A call that may be repeated. */
    @FunctionalInterface
    public interface Call<T> {
        T attempt() throws CallFailedException, InterruptedException;
    }

    /** A call without a result that may be repeated. */
    @FunctionalInterface
    public interface Action {
        void attempt() throws CallFailedException, InterruptedException;
    }

    /** Does the same as {@link #until} for a call without a result. */
    public void run(String what, Action action) {
        boolean unused = until(what, () -> {
            action.attempt();
            return true;
        });
    }

    /**
     * Repeats {@code call} until it succeeds, and returns its result.
     *
     * @param what describes the call, for errors
     * @throws SinkException.Refused no attempt can succeed
     * @throws SinkException.Unavailable the patience is over
     * @throws SinkException.Stopped the thread was interrupted
     */
    public <T> T until(String what, Call<T> call) {
        long began = System.nanoTime();
        for (int failures = 0; ; failures++) {
            try {
                T answer = call.attempt();
                if (failures > 0) {
                    listener.available();
                }
                return answer;
            } catch (CallFailedException e) {
                if (e.isFinal()) {
                    throw new SinkException.Refused(what + " rejected: " + e.getMessage(), e);
                }
                if (patience != null && failures > 0 && System.nanoTime() - began >= patience.toNanos()) {
                    throw new SinkException.Unavailable(what + " failed: " + e.getMessage(), e);
                }
                listener.unavailable(what + ": " + e.getMessage());
                pause(what, failures);
            } catch (InterruptedException e) {
                throw stopped(what);
            }
        }
    }

    private static void pause(String what, int failures) {
        long most = Math.min(MAX_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(failures, MAX_DOUBLINGS));
        try {
            TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextLong(most / 2, most + 1));
        } catch (InterruptedException e) {
            throw stopped(what);
        }
    }

    private static SinkException stopped(String what) {
        Thread.currentThread().interrupt();
        return new SinkException.Stopped("waiting for " + what);
    }
}
