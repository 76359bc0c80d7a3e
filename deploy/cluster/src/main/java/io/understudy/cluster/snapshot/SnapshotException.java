package io.understudy.cluster.snapshot;

import org.jspecify.annotations.Nullable;

/** A snapshot could not be taken, is damaged, or can't be restored. The message names which and why. */
public final class SnapshotException extends RuntimeException {

    public SnapshotException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
