package io.understudy.mirror.checkpoint;

import org.jspecify.annotations.Nullable;

/** What is stored as a checkpoint is none that this build understands; the message says where and what was found. */
public final class CorruptCheckpointException extends Exception {

    private static final long serialVersionUID = 1L;

    CorruptCheckpointException(String where, String problem, String found, @Nullable Throwable cause) {
        super("invalid checkpoint at " + where + ": " + problem + "; found " + found, cause);
    }
}
