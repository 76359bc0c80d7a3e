package io.understudy.cluster.run;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Timeouts of changes to a cluster.
 *
 * @param look timeout of one observation
 * @param between initial pause between two observations
 * @param settle time for recovery from the last step or an election, and for etcd's own conditions (members connected
 *     for five seconds)
 * @param request time until the effect of a request is visible
 * @param start time until a member's process serves
 * @param catchUp time without progress of a learner
 */
public record OperationTimeouts(
        Duration look, Duration between, Duration settle, Duration request, Duration start, Duration catchUp) {

    private static final int LOOKS = 20;
    private static final Duration LONGEST = Duration.ofSeconds(1);

    public static final OperationTimeouts DEFAULT = new OperationTimeouts(
            Duration.ofSeconds(3),
            Duration.ofMillis(200),
            Duration.ofSeconds(30),
            Duration.ofSeconds(15),
            Duration.ofMinutes(2),
            Duration.ofMinutes(10));

    /** Returns the pause between observations, which grows to one second, since they load members. */
    Duration between(long sinceNanos) {
        Duration grown = Duration.ofNanos(Math.min(sinceNanos / LOOKS, LONGEST.toNanos()));
        return grown.compareTo(between) > 0 ? grown : between;
    }

    public OperationTimeouts withLook(Duration newLook) {
        return new OperationTimeouts(newLook, between, settle, request, start, catchUp);
    }

    /** Returns these timeouts with another one for starts, as of processes started by another system. */
    public OperationTimeouts withStart(Duration newStart) {
        return new OperationTimeouts(look, between, settle, request, newStart, catchUp);
    }

    /** A point in time until which something is waited for. */
    static final class Deadline {

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
}
