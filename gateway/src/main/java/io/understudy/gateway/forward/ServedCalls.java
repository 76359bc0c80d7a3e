package io.understudy.gateway.forward;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.understudy.etcd.Duty;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Forwards the calls of clients. Bounds the memory of unread unary answers; streams are bounded by their flow control.
 * Ends calls without a time limit at closing, as etcd does. Thread-safe.
 */
public final class ServedCalls implements Forwarding, AutoCloseable {

    /** Answers of this size are not counted for a client that reads. Calls in flight are limited. */
    private static final int UNCOUNTED_BYTES = 8 << 10;

    private final Forwarding calls;
    private final Capacity capacity;
    private final Set<Lasting> lasting = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** Memory for answers. */
    @FunctionalInterface
    public interface Capacity {

        /** Counts an answer's bytes until {@link Caller#whenOver}; false if there is no room. */
        boolean holds(Caller caller, long bytes);
    }

    public ServedCalls(Forwarding calls, Capacity capacity) {
        this.calls = calls;
        this.capacity = capacity;
    }

    @Override
    public ServerCall.Listener<byte[]> start(
            EtcdMethod method,
            ServerCall<byte[], byte[]> client,
            Metadata headers,
            Caller caller,
            Executor loop,
            byte @Nullable [] request) {
        ServerCall<byte[], byte[]> served = method.unary() ? new Counted(method, client, caller) : client;
        // A snapshot is finite: it may end in time.
        return method.patient() && method.duty() != Duty.SNAPSHOT
                ? last(served, loop, each -> calls.start(method, each, headers, caller, loop, request))
                : calls.start(method, served, headers, caller, loop, request);
    }

    /**
     * Starts a call that is ended by {@link #close}.
     *
     * @param loop the session's event loop, on which this is called
     */
    public ServerCall.Listener<byte[]> last(
            ServerCall<byte[], byte[]> client,
            Executor loop,
            Function<ServerCall<byte[], byte[]>, ServerCall.Listener<byte[]>> begin) {
        Lasting call = new Lasting(client, loop);
        lasting.add(call);
        ServerCall.Listener<byte[]> listener = call.begin(begin);
        if (closed) {
            // The closing thread may have missed it.
            call.end();
        }
        return listener;
    }

    /** Ends calls without a time limit. */
    @Override
    public void close() {
        closed = true;
        lasting.forEach(call -> call.loop.execute(call::end));
    }

    private final class Lasting extends SimpleForwardingServerCall<byte[], byte[]> {

        private final Executor loop;
        private ServerCall.Listener<byte[]> listener = new ServerCall.Listener<>() {};

        Lasting(ServerCall<byte[], byte[]> client, Executor loop) {
            super(client);
            this.loop = loop;
        }

        ServerCall.Listener<byte[]> begin(Function<ServerCall<byte[], byte[]>, ServerCall.Listener<byte[]>> begin) {
            listener = begin.apply(this);
            return new SimpleForwardingServerCallListener<>(listener) {
                @Override
                public void onCancel() {
                    lasting.remove(Lasting.this);
                    super.onCancel();
                }
            };
        }

        @Override
        public void close(Status status, Metadata trailers) {
            lasting.remove(this);
            super.close(status, trailers);
        }

        void end() {
            if (lasting.remove(this)) {
                super.close(Refusals.status(ApiException.stopped()), new Metadata());
                listener.onCancel();
            }
        }
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
            boolean counted = message.length > UNCOUNTED_BYTES || !isReady();
            refused = counted && !capacity.holds(caller, message.length);
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
