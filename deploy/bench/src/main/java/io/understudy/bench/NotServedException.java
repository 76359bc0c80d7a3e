package io.understudy.bench;

/** The server does not support the request: it is sound, but there is nothing to measure. */
final class NotServedException extends RuntimeException {

    NotServedException(String message) {
        super(message);
    }
}
