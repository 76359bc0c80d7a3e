package io.understudy.consumer.format;

/** Records of the change topic are missing, or the mirror rewrote the state. */
public final class HoleException extends Exception {

    private static final long serialVersionUID = 1L;

    /** @param message what is missing, and where */
    public HoleException(String message) {
        super(message);
    }
}
