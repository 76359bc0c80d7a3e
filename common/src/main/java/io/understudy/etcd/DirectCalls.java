package io.understudy.etcd;

import com.google.protobuf.MessageLite;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.KeptConnections.Answered;
import io.understudy.tls.TlsContext;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Small calls of one unary method, each made by the thread that waits for it.
 *
 * <p>The thread itself writes the request and reads the response. A channel's thread would have to be woken for either,
 * and to wake the caller: at hundreds of sequential calls a second, each wake-up waits for a processor where those are
 * busy.
 *
 * <p>Calls use one connection, to the endpoint of the last call. One thread at a time.
 *
 * <p>Invariant E9: no call exceeds its deadline or is repeated, and after any failure the next call gets a sound
 * connection.
 *
 * @param <Q> requests
 * @param <A> answers
 */
public final class DirectCalls<Q extends MessageLite, A> implements AutoCloseable {

    /** The largest request that is {@linkplain #takes taken}. It is one frame, for which a server always has room. */
    static final int MAX_REQUEST_BYTES = 8 << 10;

    private final MethodDescriptor<Q, A> method;
    private final UnaryCalls protocol;
    private @Nullable DirectConnection connection;
    private volatile boolean closed;

    DirectCalls(TlsContext tls, MethodDescriptor<Q, A> method) {
        this.method = method;
        this.protocol = new UnaryCalls(tls, method.getFullMethodName());
    }

    /** Whether the request is small enough. */
    public boolean takes(Q request) {
        return request.getSerializedSize() <= MAX_REQUEST_BYTES;
    }

    /**
     * Makes one call. Nothing is repeated; after a failure other than the server's refusal the next call reconnects.
     *
     * @param timeout of connecting, where that is needed, and then of the call: where the server is far one of them may
     *     need nearly all of it
     * @throws StatusRuntimeException as a blocking stub does: the server's refusal; {@code DEADLINE_EXCEEDED} by the
     *     timeout; {@code CANCELLED} if the thread is interrupted, and stays so; {@code UNAVAILABLE} if no connection
     *     could be made, the connection was lost, or this is closed
     * @throws IllegalArgumentException the request is not {@linkplain #takes taken}
     */
    public A call(Endpoint endpoint, Q request, Duration timeout) {
        if (!takes(request)) {
            throw new IllegalArgumentException(
                    "request of " + request.getSerializedSize() + " bytes exceeds the limit of " + MAX_REQUEST_BYTES);
        }
        return message(sent(endpoint, request.toByteArray(), timeout));
    }

    private Answered<byte[]> sent(Endpoint endpoint, byte[] request, Duration timeout) {
        boolean lasts = false;
        try {
            Answered<byte[]> answer = connected(endpoint, timeout).call(request, System.nanoTime() + timeout.toNanos());
            lasts = answer.lasts();
            return answer;
        } catch (TimeoutException e) {
            String what = connection == null ? "not connected" : "no response";
            throw failure(Status.DEADLINE_EXCEEDED, what + " within " + timeout.toMillis() + " ms", e);
        } catch (InterruptedIOException e) {
            Thread.currentThread().interrupt();
            throw failure(Status.CANCELLED, "interrupted", e);
        } catch (IOException e) {
            throw failure(Status.UNAVAILABLE, e.getMessage() == null ? e.toString() : e.getMessage(), e);
        } finally {
            if (!lasts || closed) {
                disconnect();
            }
        }
    }

    private DirectConnection connected(Endpoint endpoint, Duration timeout) throws IOException, TimeoutException {
        DirectConnection kept = connection;
        if (kept != null && kept.leadsTo(endpoint) && kept.isGood()) {
            return kept;
        }
        disconnect();
        if (closed) {
            throw new IOException("client is closed");
        }
        DirectConnection made = DirectConnection.to(endpoint, protocol, System.nanoTime() + timeout.toNanos());
        connection = made;
        return made;
    }

    private A message(Answered<byte[]> answered) {
        try {
            return method.parseResponse(
                    new ByteArrayInputStream(answered.answer().join()));
        } catch (CompletionException e) {
            throw Status.fromThrowable(e).asRuntimeException();
        }
    }

    private static StatusRuntimeException failure(Status status, String why, Exception cause) {
        return status.withDescription(why).withCause(cause).asRuntimeException();
    }

    /** Ends the connection; calls fail from now on. Idempotent. */
    @Override
    public void close() {
        closed = true;
        disconnect();
    }

    private void disconnect() {
        DirectConnection open = connection;
        connection = null;
        if (open != null) {
            open.close();
        }
    }
}
