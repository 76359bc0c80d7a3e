package io.understudy.consumer;

/** The change topic does not continue at the position: the state is to be read again. */
final class RestartException extends Exception {

    private static final long serialVersionUID = 1L;

    RestartException(String reason) {
        super(reason);
    }

    String reason() {
        return String.valueOf(getMessage());
    }
}
