package io.understudy.gateway.replica;

/** The feed told something that can't be true of the history the replica holds. Fatal: nothing is applied any more. */
public final class ReplicaDivergedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    ReplicaDivergedException(String message) {
        super(message);
    }
}
