package io.understudy.mirror.takeover;

import org.jspecify.annotations.Nullable;

/** A take-over can't continue; the message has the error, its place and what is allowed. It undoes nothing. */
public class TakeOverException extends RuntimeException {

    public TakeOverException(String message) {
        this(message, null);
    }

    public TakeOverException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
