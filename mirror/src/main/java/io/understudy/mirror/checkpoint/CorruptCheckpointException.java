package io.understudy.mirror.checkpoint;

import org.jspecify.annotations.Nullable;

/** A stored checkpoint is unreadable to this build; the message has its place and content. */
public final class CorruptCheckpointException extends Exception {

    CorruptCheckpointException(String where, String problem, String found, @Nullable Throwable cause) {
        super("invalid checkpoint at " + where + ": " + problem + "; found " + found, cause);
    }
}
