package io.understudy.mirror.sink;

import org.jspecify.annotations.Nullable;

/**
 * A sink can't continue. The type determines the mirror's reaction; the message has the error, its place and what is
 * allowed.
 */
public abstract sealed class SinkException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    SinkException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** Another writer has taken the target over. Fatal: two writers on one target would undo each other's work. */
    public static final class Fenced extends SinkException {
        private static final long serialVersionUID = 1L;

        public Fenced(String message) {
            super(message, null);
        }
    }

    /** The target or its contents are unsuitable. Fatal until an operator has decided. */
    public static final class Refused extends SinkException {
        private static final long serialVersionUID = 1L;

        public Refused(String message) {
            super(message, null);
        }

        public Refused(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * The target is the home of the keys now: a switchover or failover has moved it there. Mirroring in this direction
     * pauses until it is moved back.
     */
    public static final class HomeMoved extends SinkException {
        private static final long serialVersionUID = 1L;

        public HomeMoved(String message) {
            super(message, null);
        }
    }

    /**
     * The target can't be reached, or the outcome of writes is unknown. A new sink, opened later, resumes at the
     * checkpoint.
     */
    public static final class Unavailable extends SinkException {
        private static final long serialVersionUID = 1L;

        public Unavailable(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /** Another mirror, which the message names, has to begin first. A new sink is opened later. */
    public static final class NotYet extends SinkException {
        private static final long serialVersionUID = 1L;

        public NotYet(String message) {
            super(message, null);
        }
    }

    /**
     * The snapshot was only compared, and continues the mirrored history. A new sink, opened at once and informed by
     * {@link Sink#historyRecognised}, is given another one and writes it.
     */
    public static final class Compared extends SinkException {
        private static final long serialVersionUID = 1L;

        public Compared(String message) {
            super(message, null);
        }
    }

    /** The mirror's thread was interrupted to stop it; its interrupt is set again. */
    public static final class Stopped extends SinkException {
        private static final long serialVersionUID = 1L;

        public Stopped(String doing) {
            super("stopped while " + doing, null);
        }
    }
}
