package io.understudy.consumer;

/** A condition that a retry does not resolve. Another source cluster, another format, or an exceeded limit. */
public final class MirrorConsumerException extends RuntimeException {

    MirrorConsumerException(String message) {
        super(message);
    }

    MirrorConsumerException(String message, Throwable cause) {
        super(message, cause);
    }
}
