package io.understudy.lab.check;

import org.jspecify.annotations.Nullable;

/** Signals that clients must not write to the core. The message is for the user, one line. */
public final class ClosedCoreException extends Exception {

    ClosedCoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
