package io.understudy.mirror.verify;

/** Ends a comparison with that result. */
final class IncomparableException extends Exception {
    private final transient NotComparable result;

    IncomparableException(NotComparable.Why why, String reason) {
        super(reason);
        this.result = new NotComparable(why, reason);
    }

    NotComparable result() {
        return result;
    }
}
