package io.understudy.local.kafka;

import io.understudy.local.process.ServerLog;
import io.understudy.local.process.ServerProcess;
import io.understudy.local.process.Waiting;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * The start of a Kafka program.
 *
 * @param what its name in messages
 * @param log its output, over all its runs
 */
record Startup(String what, ServerLog log) {

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int LOG_LINES = 20;

    /**
     * Starts it and waits until its log contains the words.
     *
     * @throws IllegalStateException it ended, or did not log them in time; it was killed then, and the message has the
     *     end of its log
     */
    void awaitLog(String words, ServerProcess process) {
        long loggedBefore = log.size();
        process.start();
        try {
            await(
                    () -> {
                        if (!process.isAlive()) {
                            throw failure(
                                    "ended with status " + process.exitStatus().orElse(-1) + " while starting");
                        }
                        return log.from(loggedBefore).contains(words);
                    },
                    "has not started");
        } catch (RuntimeException e) {
            process.close();
            throw e;
        }
    }

    /** Starts it and waits until it ends. */
    void untilItEnds(ServerProcess process) {
        try (process) {
            process.start();
            await(() -> !process.isAlive(), "has not ended");
        }
    }

    private void await(BooleanSupplier reached, String otherwise) {
        Waiting.until(
                PATIENCE,
                () -> reached.getAsBoolean() ? Optional.of(what) : Optional.empty(),
                () -> failure(otherwise + " after " + PATIENCE.toSeconds() + " s"));
    }

    IllegalStateException failure(String why) {
        return new IllegalStateException("the " + what + " " + why + "; last lines of " + log.file() + ":\n"
                + String.join("\n", log.tail(LOG_LINES)));
    }
}
