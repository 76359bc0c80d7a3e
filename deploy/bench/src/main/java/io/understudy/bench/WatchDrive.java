package io.understudy.bench;

import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Puts, and checks that the puts reach watchers.
 *
 * @param leader where to put
 * @param access the identity of the client
 */
record WatchDrive(URI leader, Access access) {

    private static final long PAUSE_NANOS = 50_000;

    /**
     * Puts for a time and waits until everything is delivered.
     *
     * @param client has not been used in a run before
     * @param inFlight how many puts may be under way: sent, but not yet delivered to all their watchers
     * @throws BenchException a put failed, or something was lost or repeated
     */
    WatchLoad run(WatchClient client, Watchers watchers, Pace pace, int inFlight, Duration duration) {
        try (Putter putter = new Putter(leader, access)) {
            long began = System.nanoTime();
            long end = began + duration.toNanos();
            do {
                awaitNanos(began + pace.dueNanos(putter.count()));
                awaitRoom(client, (long) (putter.count() - inFlight + 1) * watchers.reachedByEachPut());
                putter.put();
            } while (began + pace.dueNanos(putter.count()) < end && System.nanoTime() < end);
            Deliveries delivered = client.await(putter.count());
            Tally events = new Tally(client.delivered(), Duration.ofNanos(System.nanoTime() - began));
            return WatchLoad.of(putter.awaitAll(), delivered, events);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchException("interrupted", e);
        }
    }

    private static void awaitRoom(WatchClient client, long delivered) {
        while (client.delivered() < delivered) {
            client.check();
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private static void awaitNanos(long due) throws InterruptedException {
        long wait = due - System.nanoTime();
        if (wait > 0) {
            TimeUnit.NANOSECONDS.sleep(wait);
        }
    }
}
