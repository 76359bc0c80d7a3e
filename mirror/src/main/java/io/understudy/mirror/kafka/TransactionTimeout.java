package io.understudy.mirror.kafka;

import io.understudy.mirror.sink.SinkException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The transaction timeout of a mirror, across its sinks. A transaction that the broker aborted as too long doubles it,
 * up to the largest that the broker accepts, which it finds by trying: reading the broker's setting requires an ACL of
 * its own. One thread.
 */
final class TransactionTimeout {

    /** The largest one is found as exactly as this part of it. */
    private static final int PRECISION = 8;

    private static final Duration MAX = Duration.ofMillis(Integer.MAX_VALUE);

    private Duration accepted;
    private Duration current;
    /** The least that the broker rejected. */
    private @Nullable Duration rejected;
    /** Records of the transaction that exceeded the largest timeout; 0 if none did since a larger one was committed. */
    private long exceededRecords;

    TransactionTimeout(Duration configured) {
        this.accepted = configured;
        this.current = configured;
    }

    /** Returns the timeout of the next producer. */
    Duration current() {
        return current;
    }

    /** A producer was opened with {@link #current}. */
    void accepted() {
        accepted = current;
    }

    /** The broker accepts no such timeout. Returns whether a smaller one, now {@link #current}, is left to try. */
    boolean rejected() {
        if (current.equals(accepted)) {
            return false;
        }
        rejected = current;
        current = next();
        return true;
    }

    /** A transaction of so many records was committed. */
    void committed(long records) {
        if (records >= exceededRecords) {
            exceededRecords = 0;
        }
    }

    /**
     * The broker aborted a transaction that was open for longer than the timeout. Once at the largest timeout may be
     * due to a process that was suspended.
     *
     * @param doing what failed
     */
    SinkException exceeded(String doing, long records, long bytes, Throwable failure) {
        String what = doing + " failed: Kafka aborted a transaction of " + records + " records and " + bytes
                + " bytes, which took longer than the transaction timeout of " + current.toMillis() + " ms";
        Duration next = next();
        if (!next.equals(current)) {
            current = next;
            return new SinkException.Unavailable(what + "; retrying with " + next.toMillis() + " ms", failure);
        }
        if (exceededRecords == 0) {
            exceededRecords = Math.max(1, records);
            return new SinkException.Unavailable(
                    what + ", the largest that the broker accepts; retrying once", failure);
        }
        return new SinkException.Refused(
                what + ", the largest that the broker accepts. Nothing of it was written. Increase"
                        + " transaction.max.timeout.ms of the brokers, or their throughput, then restart the mirror",
                failure);
    }

    private Duration next() {
        if (rejected == null) {
            Duration twice = accepted.multipliedBy(2);
            return twice.compareTo(MAX) > 0 ? MAX : twice;
        }
        Duration gap = rejected.minus(accepted);
        return gap.compareTo(accepted.dividedBy(PRECISION)) <= 0 ? accepted : accepted.plus(gap.dividedBy(2));
    }
}
