package io.understudy.bench;

import org.jspecify.annotations.Nullable;

/** A benchmark can't continue, or its figures would be invalid. The message is for the user. */
public final class BenchException extends RuntimeException {

    public BenchException(String message) {
        super(message);
    }

    public BenchException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
