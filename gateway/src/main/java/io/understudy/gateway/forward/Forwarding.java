package io.understudy.gateway.forward;

import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.StreamedCall;
import io.understudy.gateway.caller.StreamedCall.StreamTaker;
import io.understudy.gateway.caller.StreamedCall.StreamedRequests;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Handles calls beyond the replica. Thread-safe; a call is confined to its session's event loop. */
public interface Forwarding {

    /**
     * Starts a call.
     *
     * @param client gets the response, on {@code loop} only; always closed unless it cancels
     * @param loop the session's event loop, on which this is called
     * @param request of a method with one; null if the client sends a stream of them
     * @return receives, on {@code loop}, what the client does
     */
    ServerCall.Listener<byte[]> start(
            EtcdMethod method,
            ServerCall<byte[], byte[]> client,
            Metadata headers,
            Caller caller,
            Executor loop,
            byte @Nullable [] request);

    /** Rejects every call, for a gateway without a source. */
    static Forwarding refusing(ApiException why) {
        return (method, client, headers, caller, loop, request) -> Refusals.end(client, why);
    }

    /** Starts a call of which only the headers have arrived. */
    default ServerCall.Listener<byte[]> start(
            EtcdMethod method, ServerCall<byte[], byte[]> client, Metadata headers, Caller caller, Executor loop) {
        return method.oneRequest()
                ? new OneRequest(client, request -> start(method, client, headers, caller, loop, request))
                : start(method, client, headers, caller, loop, null);
    }

    /**
     * Sends a unary call with the caller's token and no other metadata.
     *
     * @param loop the session's event loop, on which this is called
     * @param whenGone registers a task for {@code loop}, run if the client disconnects
     * @return the answer's bytes, on {@code loop}; fails with an {@link ApiException} only
     */
    default Future<byte[]> call(
            EtcdMethod method, Caller caller, Executor loop, byte[] request, Consumer<Runnable> whenGone) {
        PromisedAnswer answer = new PromisedAnswer(method);
        ServerCall.Listener<byte[]> call = start(method, answer, PassedMetadata.of(caller), caller, loop, request);
        whenGone.accept(() -> {
            answer.cancel();
            call.onCancel();
        });
        return answer.future();
    }

    /** Opens a watch stream, as {@link #stream}. */
    default StreamedCall watch(Caller caller, Executor loop, StreamedRequests requests, StreamTaker taker) {
        return stream(Objects.requireNonNull(EtcdMethod.named(EtcdMethod.WATCH)), caller, loop, requests, taker);
    }

    /**
     * Sends a call with streamed responses and the caller's token as the only metadata.
     *
     * @param loop the session's event loop, on which this is called
     * @param requests of the client; exactly one if the method has one
     */
    default StreamedCall stream(
            EtcdMethod method, Caller caller, Executor loop, StreamedRequests requests, StreamTaker taker) {
        StreamedAnswer answer = new StreamedAnswer(method, requests, taker);
        answer.begun(start(method, answer, PassedMetadata.of(caller), caller, loop));
        return answer;
    }

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
}
