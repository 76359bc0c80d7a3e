package io.understudy.gateway.forward;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.StreamTaker;
import io.understudy.gateway.caller.StreamedCall;
import io.understudy.gateway.caller.StreamedRequests;
import io.vertx.core.Future;
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
}
