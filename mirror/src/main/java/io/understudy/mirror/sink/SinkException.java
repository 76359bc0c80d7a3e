package io.understudy.mirror.sink;

import org.jspecify.annotations.Nullable;

/**
 * A failure after which a sink cannot continue. The type determines the mirror's reaction; the message has the error,
 * its place and what is allowed.
 */
public abstract sealed class SinkException extends RuntimeException {

    SinkException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** Another writer has taken over the target. Fatal: two writers would undo each other's work. */
    public static final class Fenced extends SinkException {
        public Fenced(String message) {
            super(message, null);
        }
    }

    /** The target or its contents are unsuitable. Fatal until an operator acts. */
    public static final class Refused extends SinkException {
        public Refused(String message) {
            super(message, null);
        }

        public Refused(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * The target is now the primary, after a switchover or failover. Mirroring in this direction pauses until the
     * primary moves back.
     */
    public static final class HomeMoved extends SinkException {
        public HomeMoved(String message) {
            super(message, null);
        }
    }

    /** The target is unreachable, or the outcome of writes is unknown. A later sink resumes at the checkpoint. */
    public static final class Unavailable extends SinkException {
        public Unavailable(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** Another mirror, named by the message, must begin first. A new sink is opened later. */
    public static final class NotYet extends SinkException {
        public NotYet(String message) {
            super(message, null);
        }
    }

    /**
     * The snapshot was only compared, and continues the mirrored history. A new sink, opened at once after {@link
     * Sink#historyRecognised}, receives another snapshot and writes it.
     */
    public static final class Compared extends SinkException {
        public Compared(String message) {
            super(message, null);
        }
    }

    /** The mirror's thread was interrupted to stop it; its interrupt flag is set. */
    public static final class Stopped extends SinkException {
        public Stopped(String doing) {
            super("stopped while " + doing, null);
        }
    }
}
