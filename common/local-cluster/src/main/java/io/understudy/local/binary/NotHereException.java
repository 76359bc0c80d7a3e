package io.understudy.local.binary;

import org.jspecify.annotations.Nullable;

/** A place does not have etcd, or cannot give it; the message gives the reason, for the list of all that was tried. */
final class NotHereException extends Exception {

    private static final long serialVersionUID = 1L;

    NotHereException(String why) {
        this(why, null);
    }

    NotHereException(String why, @Nullable Throwable cause) {
        super(why, cause);
    }
}
