package io.understudy.gateway.server;

import io.grpc.Status;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import io.understudy.etcd.EtcdMessages;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Principal.Peer;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.server.Exchange.RequestHead;
import io.understudy.gateway.server.Loads.LoadMetrics.Closure;
import io.understudy.gateway.server.LoopLoad.Admission;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.net.NetSocket;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The state that all requests of a connection share.
 *
 * <p>Invariant S8: closed connections, cancelled watches and replaced certificates leave nothing behind, and a client
 * may cancel thousands of watches.
 *
 * <p>Invariant T1: with TLS, only verified clients are served, under their verified name, by TLS 1.2 or later.
 */
final class ClientConnection {

    /** Metadata key as in etcd's {@code auth/store.go}; its JSON mapping uses {@link #AUTHORIZATION}. */
    private static final AsciiString TOKEN = AsciiString.cached("token");

    /** {@link #TOKEN} of a JSON request: grpc-gateway removes the prefix. */
    private static final AsciiString WEB_TOKEN = AsciiString.cached("grpc-metadata-token");

    private static final AsciiString AUTHORIZATION = AsciiString.cached("authorization");
    private static final List<AsciiString> FRESHNESS = freshnessFields("");
    private static final List<AsciiString> WEB_FRESHNESS = freshnessFields("grpc-metadata-");

    private final Session session;
    private final @Nullable Runnable requested;
    private final ContextInternal context;
    private final Executor loop;
    private final NetSocket socket;
    private final HeldBytes headers;
    private final HeldBytes messages;
    private final LoopLoad load;
    private final Admission admission;
    private @Nullable Principal peer;
    private Principal.@Nullable Token lastToken;

    /** @param requested called when a request arrives; null except beyond the limit, for health pages only */
    ClientConnection(
            ContextInternal context,
            NetSocket socket,
            ServerLimits limits,
            LoopLoad load,
            @Nullable Runnable requested) {
        this.requested = requested;
        this.context = context;
        this.loop = task -> context.runOnContext(run -> task.run());
        this.socket = socket;
        this.load = load;
        this.headers = HeldBytes.ofHeaders(limits.frames().maxHeldBytes(), load);
        this.messages = HeldBytes.ofMessages(limits.frames().maxHeldBytes(), load);
        this.admission = load.admission(this::client);
        this.session = new Session(this::client);
    }

    /** Whether it serves health pages only. */
    boolean isSpare() {
        return requested != null;
    }

    /** A request has arrived. Returns whether the connection serves no other. */
    boolean requested() {
        if (requested != null) {
            requested.run();
        }
        return isSpare();
    }

    /** The held memory of its requests' headers. */
    HeldBytes headers() {
        return headers;
    }

    /** The held memory of its requests' messages and bodies. */
    HeldBytes messages() {
        return messages;
    }

    /** The admission of its requests. */
    Admission admission() {
        return admission;
    }

    /** Its client's name for limits. */
    String client() {
        return LoopLoad.client(peer(), socket.remoteAddress());
    }

    /** The server closes the connection. */
    void closed(Closure why) {
        load.closed(why);
    }

    Session session() {
        return session;
    }

    /** Its event loop, with a current Vert.x context. */
    Executor loop() {
        return loop;
    }

    EventExecutor eventLoop() {
        return context.nettyEventLoop();
    }

    /** The identity by its TLS certificate; valid once data was received. */
    Principal peer() {
        if (peer == null) {
            peer = Peer.of(socket.sslSession());
        }
        return peer;
    }

    /** Returns the principal of a token. Caches the last one, which is hashed only once. */
    Principal.Token token(String value) {
        Principal.Token known = lastToken;
        if (known == null || !known.value().equals(value)) {
            known = new Principal.Token(value);
            lastToken = known;
        }
        return known;
    }

    /** Runs {@code task} on the loop, later. */
    ScheduledFuture<?> after(long nanos, Runnable task) {
        return context.nettyEventLoop()
                .schedule(() -> context.dispatch(run -> task.run()), Math.max(0, nanos), TimeUnit.NANOSECONDS);
    }

    /**
     * Returns the caller of a gRPC request.
     *
     * @throws ApiException for an invalid freshness
     */
    Caller caller(RequestHead head, long deadlineNanos, BooleanSupplier gone, Consumer<Runnable> whenOver)
            throws ApiException {
        CharSequence token = token(TOKEN, head);
        Principal principal = token == null ? peer() : token(token.toString());
        return new Caller(principal, session, freshness(FRESHNESS, head), deadlineNanos, gone, whenOver);
    }

    /**
     * Returns the caller of a plain HTTP request, by headers with the names of grpc-gateway.
     *
     * @throws ApiException for an invalid header
     */
    Caller webCaller(RequestHead head, long arrivedNanos, BooleanSupplier gone, Consumer<Runnable> whenOver)
            throws ApiException {
        // etcd's JSON mapping calls with its own certificate, so the client's certificate is never the identity.
        CharSequence token = token(WEB_TOKEN, head);
        Principal principal = token == null ? Principal.ANONYMOUS : new Principal.Token(token.toString());
        Freshness freshness = freshness(WEB_FRESHNESS, head);
        try {
            long deadlineNanos = GrpcHeaders.deadlineNanos(head.header(GrpcHeaders.TIMEOUT), arrivedNanos);
            return new Caller(principal, session, freshness, deadlineNanos, gone, whenOver);
        } catch (NumberFormatException e) {
            throw new ApiException(Status.Code.INVALID_ARGUMENT, "invalid grpc-timeout: " + e.getMessage());
        }
    }

    private static @Nullable CharSequence token(AsciiString field, RequestHead head) {
        CharSequence token = head.header(field);
        return token == null ? head.header(AUTHORIZATION) : token;
    }

    private static List<AsciiString> freshnessFields(String prefix) {
        return Stream.of(
                        Freshness.MAX_STALENESS_KEY,
                        Freshness.MIN_REVISION_KEY,
                        Freshness.REQUIRES_LEADER_KEY,
                        EtcdMessages.REPLICA_ONLY_KEY)
                .map(key -> AsciiString.cached(prefix + key))
                .toList();
    }

    private static Freshness freshness(List<AsciiString> fields, RequestHead head) throws ApiException {
        return Freshness.ofMetadata(
                text(head.header(fields.get(0))),
                text(head.header(fields.get(1))),
                text(head.header(fields.get(2))),
                text(head.header(fields.get(3))));
    }

    private static @Nullable String text(@Nullable CharSequence value) {
        return value == null ? null : value.toString();
    }
}
