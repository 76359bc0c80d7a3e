package io.understudy.cluster.observe;

/** The cluster has no state that can be reported. The message names the endpoints and their responses. */
public final class UnobservableException extends RuntimeException {

    private enum Cause {
        SILENCE,
        REJECTION,
        CONTRADICTION,
        UNCLEAR
    }

    private final Cause cause;

    /** Creates the exception of endpoints without a response. */
    public UnobservableException(String message) {
        this(message, Cause.SILENCE);
    }

    private UnobservableException(String message, Cause cause) {
        super(message);
        this.cause = cause;
    }

    /** An endpoint rejected the requests; its cluster may have a quorum. */
    public static UnobservableException rejected(String message) {
        return new UnobservableException(message, Cause.REJECTION);
    }

    /** The answers do not name the members. */
    static UnobservableException unclear(String message) {
        return new UnobservableException(message, Cause.UNCLEAR);
    }

    /** The answers are of different clusters. */
    static UnobservableException contradictory(String message) {
        return new UnobservableException(message, Cause.CONTRADICTION);
    }

    /** Whether members of different clusters answered. */
    public boolean isContradiction() {
        return cause == Cause.CONTRADICTION;
    }

    /** Whether an endpoint rejected the requests. */
    public boolean isRejection() {
        return cause == Cause.REJECTION;
    }

    /** Whether no endpoint responded, except for want of a quorum. */
    public boolean isSilence() {
        return cause == Cause.SILENCE;
    }
}
