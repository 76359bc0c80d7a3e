package io.understudy.gateway.forward;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import org.jspecify.annotations.Nullable;

/** The client side of a unary call for a caller without gRPC. */
final class PromisedAnswer extends ServerCall<byte[], byte[]> {

    private final EtcdMethod method;
    private final Promise<byte[]> promise = Promise.promise();
    private byte @Nullable [] answer;
    private boolean cancelled;

    PromisedAnswer(EtcdMethod method) {
        this.method = method;
    }

    /** Fails with an {@link ApiException} only. */
    Future<byte[]> future() {
        return promise.future();
    }

    /** The caller has disconnected. */
    void cancel() {
        cancelled = true;
        boolean unused = promise.tryFail(new ApiException(Status.Code.CANCELLED, "context canceled"));
    }

    @Override
    public void request(int messages) {
        // The only request is present from the start.
    }

    @Override
    public void sendHeaders(Metadata headers) {
        // etcd's response is in the message.
    }

    @Override
    public void sendMessage(byte[] message) {
        answer = message;
    }

    @Override
    public void close(Status status, Metadata trailers) {
        if (cancelled) {
            return;
        }
        if (!status.isOk()) {
            String text = status.getDescription();
            promise.fail(new ApiException(status.getCode(), text == null ? "" : text));
        } else if (answer == null) {
            promise.fail(new ApiException(Status.Code.INTERNAL, "grpc: response message is missing"));
        } else {
            promise.complete(answer);
        }
    }

    @Override
    public boolean isCancelled() {
        return cancelled;
    }

    @Override
    public MethodDescriptor<byte[], byte[]> getMethodDescriptor() {
        return method.wire();
    }
}
