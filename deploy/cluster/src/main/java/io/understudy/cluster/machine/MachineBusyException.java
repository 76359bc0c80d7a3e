package io.understudy.cluster.machine;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A machine did not carry out a request in time; it may still do so. */
public final class MachineBusyException extends IllegalStateException {
    private final transient @Nullable CompletableFuture<?> end;

    /** @param end completes when the order has ended; null for a read, or if it has not begun and never will */
    MachineBusyException(String message, @Nullable CompletableFuture<?> end) {
        super(message);
        this.end = end;
    }

    /**
     * Returns a future that completes when the order has ended. Null for a read, or if it has not begun and never will.
     */
    public @Nullable CompletableFuture<?> end() {
        return end;
    }

    /** Returns this failure for an order that is only part of another, without its end. */
    public MachineBusyException ofPart() {
        MachineBusyException part = new MachineBusyException(String.valueOf(getMessage()), null);
        part.initCause(this);
        return part;
    }
}
