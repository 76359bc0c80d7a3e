package io.understudy.etcd;

import io.grpc.Status;

/**
 * A failed request, understood.
 *
 * @param error which of etcd's own errors it is; {@link EtcdError#OTHER} for one that isn't among them
 * @param message the server's text, or in one line what is wrong with the connection
 */
public record EtcdFailure(EtcdError error, Remedy remedy, Status.Code code, String message) {

    @Override
    public String toString() {
        return code + ": " + message;
    }
}
