package io.understudy.bench;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

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
}
