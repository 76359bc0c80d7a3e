package io.understudy.cluster.membership;

/** A change may or may not have happened; only another look at the cluster tells. */
public final class OutcomeUnknownException extends Exception {
    private static final long serialVersionUID = 1L;

    public OutcomeUnknownException(String message, Throwable cause) {
        super(message, cause);
    }
}
