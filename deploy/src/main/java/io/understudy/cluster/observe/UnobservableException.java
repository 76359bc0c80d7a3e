package io.understudy.cluster.observe;

/** Nothing can be said about the cluster; the message names the endpoints and what each answered. */
public final class UnobservableException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UnobservableException(String message) {
        super(message);
    }
}
