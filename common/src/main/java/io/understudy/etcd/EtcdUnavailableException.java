package io.understudy.etcd;

import org.jspecify.annotations.Nullable;

/** Nobody who was asked could serve; later someone may. The message names each attempt. */
public final class EtcdUnavailableException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    EtcdUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
