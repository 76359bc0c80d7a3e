package io.understudy.cluster.run;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A point in time until which something is waited for. */
final class Deadline {

    private final long endNanos;

    private Deadline(long endNanos) {
        this.endNanos = endNanos;
    }

    static Deadline in(Duration patience) {
        return new Deadline(System.nanoTime() + patience.toNanos());
    }

    boolean isOver() {
        return System.nanoTime() - endNanos >= 0;
    }

    /** Between two looks. */
    void pause(Duration between) throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(between.toMillis());
    }
}
