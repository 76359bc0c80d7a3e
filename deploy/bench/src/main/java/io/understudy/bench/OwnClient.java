package io.understudy.bench;

import io.understudy.bench.LoadGenerator.Load;
import io.understudy.bench.LoadGenerator.Shot;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Our own load generator, where h2load is not to be had. It takes more of the machine's time than that. */
final class OwnClient implements LoadGenerator {

    @Override
    public String description() {
        return "built-in client (gRPC for Java, java.net.http)";
    }

    @Override
    public Tally warmUp(Shot shot, Duration duration) {
        return drive(shot, (sent, elapsedNanos) -> elapsedNanos < duration.toNanos() || sent == 0, Pace.FULL)
                .tally();
    }

    @Override
    public Load run(Shot shot, long requests, Pace pace) {
        return drive(shot, (sent, elapsedNanos) -> sent < requests, pace);
    }

    /** Whether to send another. Time runs from when the connections are open, as the tally's does. */
    @FunctionalInterface
    private interface More {

        boolean than(long sent, long elapsedNanos);
    }

    private static Load drive(Shot shot, More more, Pace pace) {
        Semaphore free = new Semaphore(shot.inFlight());
        byte[] request = shot.request().toByteArray();
        OwnClientTally tally = new OwnClientTally(shot.answerBytes());
        try (ServerConnections caller =
                ServerConnections.open(shot.api(), shot.server(), shot.access(), shot.connections())) {
            long began = System.nanoTime();
            for (long sent = 0; more.than(sent, System.nanoTime() - began); sent++) {
                awaitNanos(began + pace.dueNanos(sent));
                free.acquire();
                long now = System.nanoTime();
                CompletableFuture<byte[]> answer = caller.call(request);
                var unused = answer.whenComplete((message, failure) -> {
                    tally.add(System.nanoTime() - now, message, failure);
                    free.release();
                });
            }
            free.acquire(shot.inFlight());
            return tally.load(Duration.ofNanos(System.nanoTime() - began));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", e);
        }
    }

    private static void awaitNanos(long due) throws InterruptedException {
        long wait = due - System.nanoTime();
        if (wait > 0) {
            TimeUnit.NANOSECONDS.sleep(wait);
        }
    }

    /** Counts answers and errors. Safe for use by several threads. */
    private static final class OwnClientTally {

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
}
