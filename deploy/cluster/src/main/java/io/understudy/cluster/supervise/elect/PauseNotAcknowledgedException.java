package io.understudy.cluster.supervise.elect;

/** A pause or its end was not stored, or the pause was not acknowledged. */
public final class PauseNotAcknowledgedException extends Exception {
    private final boolean isStored;

    PauseNotAcknowledgedException(String message, boolean isStored) {
        super(message);
        this.isStored = isStored;
    }

    /** Whether the pause is stored, so that supervisors read it before their next step. */
    public boolean isStored() {
        return isStored;
    }
}
