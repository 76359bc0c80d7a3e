package io.understudy.feed.etcd;

/** The connection of a tail is lost; another one, perhaps to another member, may continue. */
final class TailLostException extends Exception {

    private final Reason reason;

    /** Why, as a metric's tag. */
    enum Reason {
        /** The stream ended with an error. */
        STREAM_ENDED,
        /** A response was too large to be received. */
        TOO_LARGE,
        /** No response arrived, although progress was requested. */
        STALLED,
        /** The member has not reached the position yet. */
        BEHIND,
        /** The member ended the watch. */
        CANCELED
    }

    TailLostException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    TailLostException(Reason reason, String message, Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    Reason reason() {
        return reason;
    }
}
