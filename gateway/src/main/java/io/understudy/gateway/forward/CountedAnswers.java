package io.understudy.gateway.forward;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Bounds the memory of unary answers that clients do not read. Streams are bounded by their flow control.
 *
 * @param capacity counts the bytes of an answer until its client has read it
 */
public record CountedAnswers(Forwarding calls, Capacity capacity) implements Forwarding {

    /** The gateway's own answers of this size are not counted either; calls in flight are limited. */
    private static final int UNCOUNTED_BYTES = 8 << 10;

    /** Memory for answers. */
    @FunctionalInterface
    public interface Capacity {

        /** Counts an answer's bytes until {@link Caller#whenOver}; false if there is no room. */
        boolean holds(Caller caller, long bytes);
    }

    @Override
    public ServerCall.Listener<byte[]> start(
            EtcdMethod method,
            ServerCall<byte[], byte[]> client,
            Metadata headers,
            Caller caller,
            Executor loop,
            byte @Nullable [] request) {
        return calls.start(
                method, method.unary() ? new Counted(method, client, caller) : client, headers, caller, loop, request);
    }

    private final class Counted extends SimpleForwardingServerCall<byte[], byte[]> {

        private final EtcdMethod method;
        private final Caller caller;
        private boolean refused;

        Counted(EtcdMethod method, ServerCall<byte[], byte[]> client, Caller caller) {
            super(client);
            this.method = method;
            this.caller = caller;
        }

        @Override
        public void sendMessage(byte[] message) {
            refused = message.length > UNCOUNTED_BYTES && !capacity.holds(caller, message.length);
            if (!refused) {
                super.sendMessage(message);
            }
        }

        @Override
        public void close(Status status, Metadata trailers) {
            super.close(refused ? Refusals.status(refusal()) : status, trailers);
        }

        /** A write has been executed, which must not be reported as a failure. */
        private ApiException refusal() {
            return method.treatment() == EtcdMethod.Treatment.READ
                    ? ApiException.tooManyRequests(": too many unread responses (reads.maxPassedThroughBytes)")
                    : Refusals.connectionLost();
        }
    }
}
