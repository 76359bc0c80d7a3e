package io.understudy.feed.etcd;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * How long to leave a failing source alone: longer with each failure in a row, with jitter, so that the feeds of many
 * processes don't come back together. Owned by the feed's thread.
 */
final class Backoff {

    private static final long FIRST_MILLIS = 20;
    private static final long MAX_MILLIS = 1_000;
    private static final long MAX_MISSED_MILLIS = 200;
    private static final int MAX_DOUBLINGS = 10;

    private int failures;
    private long untilNanos = System.nanoTime();

    void failed() {
        failed(MAX_MILLIS);
    }

    /** As {@link #failed}, where no server was reached that needs a pause: its return should be noticed soon. */
    void missed() {
        failed(MAX_MISSED_MILLIS);
    }

    private void failed(long maxMillis) {
        long most = Math.min(maxMillis, FIRST_MILLIS << Math.min(failures, MAX_DOUBLINGS));
        long millis = ThreadLocalRandom.current().nextLong(most / 2, most + 1);
        failures++;
        untilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    }

    void succeeded() {
        failures = 0;
    }

    /** Whether the next failure would be the first in a row: a change of state, that is, and worth a line in the log. */
    boolean isFirst() {
        return failures == 0;
    }

    /** When to continue, in the time of {@link System#nanoTime}. */
    long untilNanos() {
        return untilNanos;
    }
}
