package io.understudy.gateway.server;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import io.understudy.gateway.caller.Peer;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.server.LoadMetrics.Closure;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.net.NetSocket;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The state that all requests of a connection share.
 *
 * <p>Invariant S8: closed connections, cancelled watches and replaced certificates leave nothing behind, and a client
 * may cancel thousands of watches.
 */
final class ClientConnection {

    private final Session session = new Session();
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
}
