package io.understudy.etcd;

import org.jspecify.annotations.Nullable;

/** No endpoint could serve the request; later one may. The message names each attempt. */
public final class EtcdUnavailableException extends RuntimeException {

    EtcdUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
