package io.understudy.consumer.format;

/** Records of the change topic are missing, or the mirror rewrote the state. */
public final class HoleException extends Exception {

    /** @param message what is missing, and where */
    public HoleException(String message) {
        super(message);
    }
}
