package io.understudy.seed;

import org.jspecify.annotations.Nullable;

/** A data directory could not be made. The message states the cause, and what is left behind. */
public final class SeedException extends RuntimeException {

    SeedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
