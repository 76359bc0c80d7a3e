package io.understudy.gateway.forward;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.StreamTaker;
import io.understudy.gateway.caller.StreamedCall;
import io.understudy.gateway.caller.StreamedRequests;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The client side of a streaming call for a caller without gRPC. */
final class StreamedAnswer extends ServerCall<byte[], byte[]> implements StreamedCall {

    private final EtcdMethod method;
    private final StreamTaker taker;
    private final StreamedRequests requests;
    private @Nullable Listener<byte[]> call;
    private int wanted;
    private boolean sending;
    private boolean sent;
    private boolean cancelled;

    StreamedAnswer(EtcdMethod method, StreamedRequests requests, StreamTaker taker) {
        this.method = method;
        this.taker = taker;
        this.requests = requests;
    }

    void begun(Listener<byte[]> begunCall) {
        call = begunCall;
        requests.onChange(this::send);
        send();
    }

    @Override
    public void takesMore() {
        if (call != null && !cancelled) {
            call.onReady();
        }
    }

    @Override
    public void gone() {
        cancelled = true;
        if (call != null) {
            call.onCancel();
        }
    }

    @Override
    public void request(int messages) {
        wanted += messages;
        send();
    }

    private void send() {
        if (call == null || sending) {
            return;
        }
        sending = true;
        try {
            while (wanted > 0 && !requests.isEmpty() && !cancelled) {
                wanted--;
                call.onMessage(Objects.requireNonNull(requests.poll()));
            }
            if (requests.isOver() && !sent && !cancelled) {
                sent = true;
                call.onHalfClose();
            }
        } finally {
            sending = false;
        }
    }

    @Override
    public void sendHeaders(Metadata headers) {
        // etcd's responses are in the messages.
    }

    @Override
    public void sendMessage(byte[] message) {
        taker.take(message);
    }

    @Override
    public boolean isReady() {
        return !cancelled && taker.takes();
    }

    @Override
    public void close(Status status, Metadata trailers) {
        if (!cancelled) {
            String text = status.getDescription();
            taker.end(status.isOk() ? null : new ApiException(status.getCode(), text == null ? "" : text));
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
