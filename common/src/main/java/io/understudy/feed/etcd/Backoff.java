package io.understudy.feed.etcd;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Exponential backoff with jitter, so that the feeds of many processes don't retry together. Owned by the feed's
 * thread.
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

    /** As {@link #failed}, with a shorter pause, where no server was reached. */
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

    /** Whether the next failure is the first in a row, and worth a log line. */
    boolean isFirst() {
        return failures == 0;
    }

    /** When to continue, in the time of {@link System#nanoTime}. */
    long untilNanos() {
        return untilNanos;
    }
}
