package io.understudy.mirror.lease;

import io.understudy.vocabulary.Revision;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A lease that the target has and this mirror keeps alive. Thread-safe. */
final class HeldLease {

    /** Keep-alives per TTL. */
    private static final int BEATS = 3;
    /** Interval of keep-alives that are denied, each of which takes a stream. */
    private static final long DENIED_SECONDS = 5;

    private final long id;
    private volatile long seconds;
    /** Time of the next keep-alive, by {@link System#nanoTime}. */
    private volatile long dueAt;

    /** Whether the grant or the last keep-alive succeeded. */
    private volatile boolean kept;

    private volatile boolean denied;
    private volatile long checkedAt = System.nanoTime();
    private volatile @Nullable Revision goneAt;
    /** Number of keys that this writer attached and did not detach. Guarded by the lock of the attached keys. */
    private int keys;

    /** @param seconds granted; 0 for a registered lease, which the target may lack */
    HeldLease(long id, long seconds) {
        this.id = id;
        this.seconds = seconds;
        this.kept = seconds > 0;
        // At once: the remaining TTL of one that its owner granted is unknown.
        this.dueAt = System.nanoTime();
    }

    long id() {
        return id;
    }

    long seconds() {
        return seconds;
    }

    /** Whether a keep-alive is due. */
    boolean isDue(long now) {
        return now - dueAt >= 0;
    }

    /** Records a successful keep-alive of {@code sentAt}. */
    void keptAlive(long sentAt, long newSeconds) {
        seconds = newSeconds;
        dueAt = sentAt + between();
        kept = true;
        denied = false;
    }

    /** Records a request without a keep-alive of it, since others were denied. It is due after those that are due now. */
    void leftOut() {
        dueAt = System.nanoTime();
        kept = false;
    }

    /** Returns the time of the next keep-alive, by {@link System#nanoTime}. */
    long dueAt() {
        return dueAt;
    }

    /** Whether the grant or the last keep-alive succeeded. */
    boolean isKept() {
        return kept;
    }

    /** Whether the last keep-alive was denied. */
    boolean isDenied() {
        return denied;
    }

    /** Records a keep-alive that was denied. */
    void denied(long grantedSeconds) {
        seconds = grantedSeconds;
        // From now on: others of the same request were denied before, each by its own stream.
        dueAt = System.nanoTime() + TimeUnit.SECONDS.toNanos(DENIED_SECONDS);
        kept = false;
        denied = true;
    }

    /** Whether keys were attached without interruption: neither side can have granted the lease again. */
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

    /** Returns a source revision without the lease; null while the source has it. */
    @Nullable Revision goneAt() {
        return goneAt;
    }

    /** Returns the time of the last check, by {@link System#nanoTime}, or of the grant. */
    long checkedAt() {
        return checkedAt;
    }

    /** Records a check at the source: it has the lease, or lacks it at {@code revision}. */
    void checked(@Nullable Revision revision) {
        checkedAt = System.nanoTime();
        goneAt = revision;
    }

    private long between() {
        return TimeUnit.SECONDS.toNanos(seconds) / BEATS;
    }
}
