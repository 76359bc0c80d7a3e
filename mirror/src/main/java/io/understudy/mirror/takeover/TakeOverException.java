package io.understudy.mirror.takeover;

import io.understudy.mirror.call.CallFailedException;
import org.jspecify.annotations.Nullable;

/** A take-over can't continue; the message has the error, its place and what is allowed. It undoes nothing. */
public class TakeOverException extends RuntimeException {

    public TakeOverException(String message) {
        this(message, null);
    }

    public TakeOverException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** Whether a call failed in such a way that another attempt would too. */
    public boolean isFinal() {
        return getCause() instanceof CallFailedException failed && failed.isFinal();
    }
}
