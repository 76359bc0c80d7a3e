package io.understudy.etcd;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import io.understudy.etcd.Channels.NetworkThread;
import io.understudy.tls.TlsContext;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Single requests to given members: nothing is probed, chosen or retried. A member that could not be reached before is
 * reconnected.
 *
 * <p>All methods may be called from any thread; none waits for the network except {@link #close}.
 */
public final class EtcdConnections implements AutoCloseable {

    private final TlsContext tls;
    private final NetworkThread network;
    private final Channels channels;
    private final HttpPages pages;
    private final @Nullable Login login;

    private EtcdConnections(EtcdSettings settings, List<Endpoint> otherVoters) {
        List<Endpoint> voters =
                Stream.of(settings.seeds(), otherVoters).flatMap(List::stream).toList();
        this.tls = TlsContext.of(settings.tls());
        this.network = NetworkThread.start(settings.name());
        this.channels = new Channels(network, settings.requestTimeout(), tls);
        this.login = Login.of(settings, () -> voters, channels::getUsable, outcome -> {});
        this.pages = new HttpPages(tls, settings.requestTimeout());
    }

    /**
     * Opens no connection yet.
     *
     * @throws io.understudy.tls.TlsFileException if certificates or keys can't be read
     */
    public static EtcdConnections open(EtcdSettings settings) {
        return open(settings, List.of());
    }

    /**
     * As {@link #open(EtcdSettings)}.
     *
     * @param otherVoters that may issue a token where none of the endpoints given does
     */
    public static EtcdConnections open(EtcdSettings settings, List<Endpoint> otherVoters) {
        return new EtcdConnections(settings, otherVoters);
    }

    /**
     * Makes one call.
     *
     * @return fails with an {@link io.grpc.StatusRuntimeException}, by the deadline at the latest
     */
    public <Q, A> CompletableFuture<A> call(
            Endpoint endpoint, MethodDescriptor<Q, A> method, Q request, Duration deadline) {
        return Calls.unary(channel(endpoint), method, request, deadline);
    }

    /**
     * Makes a call with many responses, and requests one at a time. To end it before the last, make it in a context
     * that can be cancelled.
     *
     * @param deadline for all responses together
     * @return waits for responses; fails with an {@link io.grpc.StatusRuntimeException}
     */
    public <Q, A> Iterator<A> stream(Endpoint endpoint, MethodDescriptor<Q, A> method, Q request, Duration deadline) {
        CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS);
        return ClientCalls.blockingServerStreamingCall(channel(endpoint), method, options, request);
    }

    /**
     * Fetches a page from a member's client port.
     *
     * @param path such as {@code /metrics}
     * @return fails with an {@link java.io.IOException}, or by the deadline with a {@link
     *     java.util.concurrent.TimeoutException}
     */
    public CompletableFuture<HttpResponse<String>> page(Endpoint endpoint, String path, Duration deadline) {
        return pages.get(endpoint, path, deadline);
    }

    private Channel channel(Endpoint endpoint) {
        Channel channel = channels.getUsable(endpoint);
        return login == null ? channel : ClientInterceptors.intercept(channel, login);
    }

    /** Ends every call and connection of gRPC; waits a few seconds at most. Idempotent. */
    @Override
    public void close() {
        channels.close();
        network.close();
        tls.close();
    }
}
