package io.understudy.etcd;

import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import io.understudy.tls.TlsContext;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Single requests to single members, for who chooses them himself: nothing is probed, chosen or repeated. A member that
 * could not be reached before is connected to anew.
 *
 * <p>All methods may be called from any thread; none waits for the network except {@link #close}.
 */
public final class EtcdConnections implements AutoCloseable {

    private final NetworkThread network;
    private final Channels channels;
    private final HttpClient http;

    private EtcdConnections(EtcdSettings settings) {
        TlsContext tls = TlsContext.of(settings.tls());
        this.network = NetworkThread.start(settings.name());
        this.channels = new Channels(network, settings.requestTimeout(), tls);
        this.http = tls.applyTo(HttpClient.newBuilder())
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(settings.requestTimeout())
                .build();
    }

    /**
     * Connects to nobody yet.
     *
     * @throws io.understudy.tls.TlsFileException if certificates or keys can't be read
     */
    public static EtcdConnections open(EtcdSettings settings) {
        return new EtcdConnections(settings);
    }

    /**
     * Makes one call.
     *
     * @return fails with an {@link io.grpc.StatusRuntimeException}, by the deadline at the latest
     */
    public <Q, A> CompletableFuture<A> call(
            Endpoint endpoint, MethodDescriptor<Q, A> method, Q request, Duration deadline) {
        CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS);
        return Calls.unary(answer ->
                ClientCalls.asyncUnaryCall(channels.getAnew(endpoint).newCall(method, options), request, answer));
    }

    /**
     * Makes a call that is answered in many parts, of which one at a time is asked for. To end it before its last part,
     * make it in a context that can be cancelled.
     *
     * @param deadline for all parts together
     * @return waits for parts; fails with an {@link io.grpc.StatusRuntimeException}
     */
    public <Q, A> Iterator<A> stream(Endpoint endpoint, MethodDescriptor<Q, A> method, Q request, Duration deadline) {
        CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS);
        return ClientCalls.blockingServerStreamingCall(channels.getAnew(endpoint), method, options, request);
    }

    /**
     * Fetches a page from a member's client port.
     *
     * @param path such as {@code /metrics}
     * @return fails with an {@link java.io.IOException}, or by the deadline with a {@link
     *     java.util.concurrent.TimeoutException}
     */
    public CompletableFuture<HttpResponse<String>> page(Endpoint endpoint, String path, Duration deadline) {
        HttpRequest request = HttpRequest.newBuilder(endpoint.uri().resolve(path))
                .timeout(deadline)
                .build();
        // The request's own time-out ends with the headers of the answer.
        return http.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                .orTimeout(deadline.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Ends every call and connection of gRPC; waits a few seconds at most. Idempotent. */
    @Override
    public void close() {
        channels.close();
        network.close();
    }
}
