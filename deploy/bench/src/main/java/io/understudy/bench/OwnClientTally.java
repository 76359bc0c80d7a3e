package io.understudy.bench;

import java.time.Duration;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Counts answers and errors. Safe for use by several threads. */
final class OwnClientTally {

    private final int answerBytes;
    private long[] micros = new long[1 << 16];
    private int answered;
    private long errors;
    private @Nullable Throwable firstFailure;

    OwnClientTally(int answerBytes) {
        this.answerBytes = answerBytes;
    }

    /** Adds a request: either it has an answer, or it failed. */
    synchronized void add(long nanos, byte @Nullable [] answer, @Nullable Throwable failure) {
        if (answer == null || answer.length != answerBytes) {
            errors++;
            firstFailure = firstFailure == null ? failure : firstFailure;
            return;
        }
        if (answered == micros.length) {
            micros = Arrays.copyOf(micros, answered * 2);
        }
        micros[answered++] = nanos / 1_000;
    }

    /** @throws BenchException there were errors */
    synchronized Load load(Duration elapsed) {
        if (errors > 0) {
            String message = errors + " of " + (errors + answered) + " requests failed";
            throw firstFailure == null
                    ? new BenchException(message + ": response length differs from " + answerBytes + " bytes")
                    : new BenchException(message, firstFailure);
        }
        return new Load(new Tally(answered, elapsed), Latencies.of(Arrays.copyOf(micros, answered)));
    }
}
