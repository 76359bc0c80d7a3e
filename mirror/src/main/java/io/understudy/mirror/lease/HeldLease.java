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

    private volatile long lookedAt = System.nanoTime();
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

    /** The target was asked at {@code asked} to keep it alive, and did. */
    void keptAlive(long asked, long newSeconds) {
        seconds = newSeconds;
        dueAt = asked + between();
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

    /** By {@link System#nanoTime}: when the source was asked for it last, or when the target granted it. */
    long lookedAt() {
        return lookedAt;
    }

    /** The source was asked for it: it has the lease, or had lost it at {@code revision}. */
    void looked(@Nullable Revision revision) {
        lookedAt = System.nanoTime();
        goneAt = revision;
    }

    private long between() {
        return TimeUnit.SECONDS.toNanos(seconds) / BEATS;
    }
}
