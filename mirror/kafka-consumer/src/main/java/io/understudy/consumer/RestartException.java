package io.understudy.consumer;

/** The change topic does not continue at the position. The state must be read again. */
final class RestartException extends Exception {

    private final boolean late;

    RestartException(String reason) {
        this(reason, false);
    }

    /** @param late whether a complete state was not read within the retention of tombstones */
    RestartException(String reason, boolean late) {
        super(reason);
        this.late = late;
    }

    boolean isLate() {
        return late;
    }

    String reason() {
        return String.valueOf(getMessage());
    }
}
