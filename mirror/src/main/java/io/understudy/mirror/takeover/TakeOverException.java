package io.understudy.mirror.takeover;

import org.jspecify.annotations.Nullable;

/** A take-over can't go on; the message says what, where and what is allowed. Nothing is undone by it. */
public final class TakeOverException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    public TakeOverException(String message) {
        this(message, null);
    }

    public TakeOverException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
