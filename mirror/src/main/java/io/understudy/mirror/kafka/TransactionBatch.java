package io.understudy.mirror.kafka;

import java.time.Duration;

/** The content of a transaction: several small commits, or one large. One thread. */
final class TransactionBatch {

    private static final long MAX_BYTES = 2L << 20;
    private static final int MAX_CHANGES = 10_000;
    /** Maximum age of a batch under continuous load. */
    private static final Duration MAX_AGE = Duration.ofMillis(50);
    /**
     * Pause before the next small transaction. A broker takes some milliseconds after a transaction to write its
     * markers. A producer that begins another one sooner backs off for 20 ms ({@code
     * add.partitions.to.txn.retry.backoff.ms}, KIP-890), and many small ones cost more than few.
     */
    private static final Duration PAUSE = Duration.ofMillis(20);

    private long bytes;
    private long changes;
    private long commits;
    private long firstNanos;
    private long writtenNanos = System.nanoTime() - PAUSE.toNanos();

    boolean isEmpty() {
        return changes == 0;
    }

    long changes() {
        return changes;
    }

    long commits() {
        return commits;
    }

    /** A commit was added as a whole. */
    void commit(long moreBytes, long moreChanges) {
        add(moreBytes, moreChanges);
        commits++;
    }

    /** Whether the next commit is to be part of another transaction. */
    boolean isFullBefore(long moreBytes, long moreChanges) {
        return !isEmpty() && (bytes + moreBytes > MAX_BYTES || changes + moreChanges > MAX_CHANGES);
    }

    void add(long moreBytes, long moreChanges) {
        if (isEmpty()) {
            firstNanos = System.nanoTime();
        }
        bytes += moreBytes;
        changes += moreChanges;
    }

    /** Whether it waits no longer for more. */
    boolean isDue() {
        return !isEmpty()
                && (bytes >= MAX_BYTES
                        || changes >= MAX_CHANGES
                        || System.nanoTime() - firstNanos >= MAX_AGE.toNanos());
    }

    /** Returns the delay that lets the batch grow; zero for none. */
    Duration pause() {
        long nanos = PAUSE.toNanos() - (System.nanoTime() - writtenNanos);
        return isEmpty() || nanos <= 0 ? Duration.ZERO : Duration.ofNanos(nanos);
    }

    /** A transaction has ended, the next one holds nothing yet. */
    void written() {
        writtenNanos = System.nanoTime();
        bytes = 0;
        changes = 0;
        commits = 0;
    }
}
