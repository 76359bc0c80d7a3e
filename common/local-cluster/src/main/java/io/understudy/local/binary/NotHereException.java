package io.understudy.local.binary;

import org.jspecify.annotations.Nullable;

/** A source has no etcd, or cannot provide it; the message states the reason. */
final class NotHereException extends Exception {

    NotHereException(String why) {
        this(why, null);
    }

    NotHereException(String why, @Nullable Throwable cause) {
        super(why, cause);
    }
}
