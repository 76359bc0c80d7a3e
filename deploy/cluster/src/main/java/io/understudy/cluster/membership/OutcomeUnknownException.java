package io.understudy.cluster.membership;

/** A change may or may not have happened; another observation of the cluster is needed. */
public final class OutcomeUnknownException extends Exception {
    public OutcomeUnknownException(String message, Throwable cause) {
        super(message, cause);
    }
}
