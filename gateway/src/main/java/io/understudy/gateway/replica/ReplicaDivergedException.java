package io.understudy.gateway.replica;

/** The feed contradicts the history that the replica holds. Fatal: nothing more is applied. */
public final class ReplicaDivergedException extends RuntimeException {

    ReplicaDivergedException(String message) {
        super(message);
    }
}
