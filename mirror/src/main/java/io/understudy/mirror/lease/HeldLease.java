package io.understudy.mirror.lease;

import io.understudy.vocabulary.Revision;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A lease that the target has and this mirror keeps alive. Thread-safe. */
final class HeldLease {

    /** So many times per time to live it is kept alive. */
    private static final int BEATS = 3;

    private final long id;
    private volatile long seconds;
    /** By {@link System#nanoTime}. */
    private volatile long dueAt;

    private volatile long checkedAt = System.nanoTime();
    private volatile @Nullable Revision goneAt;
    /** Keys that this writer attached and did not detach since. Guarded by the lock of the attached keys. */
    private int keys;

    HeldLease(long id, long seconds) {
        this.id = id;
        this.seconds = seconds;
        // At once: one that its owner granted there may be about to expire.
        this.dueAt = System.nanoTime();
    }

    /** One that the target had: the rest of its TTL is unknown, so it is kept alive at once. */
    static HeldLease adopted(long id, long seconds) {
        HeldLease lease = new HeldLease(id, seconds);
        lease.dueAt = System.nanoTime();
        return lease;
    }

    long id() {
        return id;
    }

    long seconds() {
        return seconds;
    }

    /** Whether it is to be kept alive now. */
    boolean isDue(long now) {
        return now - dueAt >= 0;
    }

    /** The target has kept it alive by a request of {@code sentAt}. */
    void keptAlive(long sentAt, long newSeconds) {
        seconds = newSeconds;
        dueAt = sentAt + between();
    }

    /** Whether keys are attached without interruption: neither side can have granted it again since. */
    boolean hasKeys() {
        return keys > 0;
    }

    void attach() {
        keys++;
    }

    void detach() {
        keys--;
    }

    void detachAll() {
        keys = 0;
    }

    /** Of the source, which no longer had it then; null while it has. */
    @Nullable Revision goneAt() {
        return goneAt;
    }

    /** By {@link System#nanoTime}: time of the last read from the source, or of the grant in the target. */
    long checkedAt() {
        return checkedAt;
    }

    /** The lease was read from the source, which has it, or had lost it at {@code revision}. */
    void checked(@Nullable Revision revision) {
        checkedAt = System.nanoTime();
        goneAt = revision;
    }

    private long between() {
        return TimeUnit.SECONDS.toNanos(seconds) / BEATS;
    }
}
