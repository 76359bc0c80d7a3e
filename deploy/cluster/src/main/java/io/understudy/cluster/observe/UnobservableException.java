package io.understudy.cluster.observe;

/** The cluster has no state that can be reported. The message names the endpoints and their responses. */
public final class UnobservableException extends RuntimeException {
    private final boolean silence;
    private final boolean contradiction;

    /** Creates the exception of endpoints without a response. */
    public UnobservableException(String message) {
        this(message, true, false);
    }

    private UnobservableException(String message, boolean silence, boolean contradiction) {
        super(message);
        this.silence = silence;
        this.contradiction = contradiction;
    }

    /** The answers do not name the members. */
    static UnobservableException unclear(String message) {
        return new UnobservableException(message, false, false);
    }

    /** The answers are of different clusters. */
    static UnobservableException contradictory(String message) {
        return new UnobservableException(message, false, true);
    }

    /** Whether members of different clusters answered. */
    public boolean isContradiction() {
        return contradiction;
    }

    /** Whether no endpoint responded at all. */
    public boolean isSilence() {
        return silence;
    }
}
