package io.understudy.mirror.revisions;

/** The checkpoint could not be read from the target; the message has the cause. */
public final class TargetUnreadableException extends Exception {
    TargetUnreadableException(String message, Throwable cause) {
        super(message, cause);
    }

    TargetUnreadableException(String message) {
        super(message);
    }
}
