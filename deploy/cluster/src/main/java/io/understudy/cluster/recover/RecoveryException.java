package io.understudy.cluster.recover;

import org.jspecify.annotations.Nullable;

/** A recovery ended before it was done; the message names where, and what is left. It can be run again. */
public final class RecoveryException extends RuntimeException {

    RecoveryException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
