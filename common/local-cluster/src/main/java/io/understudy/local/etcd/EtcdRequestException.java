package io.understudy.local.etcd;

import java.net.URI;
import org.jspecify.annotations.Nullable;

/** A request that administers a cluster failed. The message has the address and the reason. */
public final class EtcdRequestException extends RuntimeException {

    private final String reason;

    EtcdRequestException(URI address, String reason, @Nullable Throwable cause) {
        super(address + ": " + reason, cause);
        this.reason = reason;
    }

    /** etcd's own message, or what kept it from answering. */
    public String reason() {
        return reason;
    }
}
