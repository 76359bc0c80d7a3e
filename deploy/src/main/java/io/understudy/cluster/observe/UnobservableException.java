package io.understudy.cluster.observe;

/** Nothing can be said about the cluster; the message names the endpoints and what each answered. */
public final class UnobservableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean silence;

    /** Nobody answered. */
    public UnobservableException(String message) {
        this(message, true);
    }

    private UnobservableException(String message, boolean silence) {
        super(message);
        this.silence = silence;
    }

    /** Somebody answered, and it made no picture. */
    static UnobservableException unclear(String message) {
        return new UnobservableException(message, false);
    }

    /** Whether nobody answered at all. */
    public boolean isSilence() {
        return silence;
    }
}
