package io.understudy.cluster.supervise.elect;

/** A pause or its end could not be stored, or the active supervisor has not acknowledged it. */
public final class PauseNotAcknowledgedException extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean isStored;

    PauseNotAcknowledgedException(String message, boolean isStored) {
        super(message);
        this.isStored = isStored;
    }

    /** Whether the pause is stored in the cluster, so that every supervisor reads it before its next step. */
    public boolean isStored() {
        return isStored;
    }
}
