package io.understudy.local.process;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Waits for what another process does, by polling. */
public final class Waiting {

    private static final Duration PAUSE = Duration.ofMillis(20);

    private Waiting() {}

    /**
     * Polls until there is an answer.
     *
     * @param question polled; an exception ends the wait
     * @param failure makes the exception for the case that there is no answer in time
     */
    public static <T> T until(Duration patience, Supplier<Optional<T>> question, Supplier<RuntimeException> failure) {
        long end = System.nanoTime() + patience.toNanos();
        while (true) {
            Optional<T> answer = question.get();
            if (answer.isPresent()) {
                return answer.get();
            }
            if (System.nanoTime() > end) {
                throw failure.get();
            }
            try {
                TimeUnit.NANOSECONDS.sleep(PAUSE.toNanos());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                RuntimeException interrupted = failure.get();
                interrupted.addSuppressed(e);
                throw interrupted;
            }
        }
    }
}
