package io.understudy.gateway.replica;

/** The feed contradicts the history that the replica holds. Fatal: nothing more is applied. */
public final class ReplicaDivergedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ReplicaDivergedException(String message) {
        super(message);
    }
}
