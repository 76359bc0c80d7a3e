package io.understudy.gateway.server;

import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.Session;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.net.NetSocket;
import java.security.cert.X509Certificate;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.SSLPeerUnverifiedException;

/** What all requests of a connection have in common. */
final class ClientConnection {

    private final Session session = new Session();
    private final ContextInternal context;
    private final Executor loop;
    private final Principal peer;

    ClientConnection(ContextInternal context, Principal peer) {
        this.context = context;
        this.loop = task -> context.runOnContext(run -> task.run());
        this.peer = peer;
    }

    Session session() {
        return session;
    }

    /** Its event loop; what runs there may ask Vert.x for the current context. */
    Executor loop() {
        return loop;
    }

    EventExecutor eventLoop() {
        return context.nettyEventLoop();
    }

    /** Who the connection itself says it is. */
    Principal peer() {
        return peer;
    }

    /** Runs {@code task} on the loop, later. */
    ScheduledFuture<?> after(long nanos, Runnable task) {
        return context.nettyEventLoop()
                .schedule(() -> context.dispatch(run -> task.run()), Math.max(0, nanos), TimeUnit.NANOSECONDS);
    }

    /** The common name of the certificate that the other side has shown, if it has, and if it was verified. */
    static Principal peerOf(NetSocket socket) {
        if (!socket.isSsl()) {
            return Principal.ANONYMOUS;
        }
        try {
            return socket.sslSession().getPeerCertificates()[0] instanceof X509Certificate certificate
                    ? commonName(certificate)
                    : Principal.ANONYMOUS;
        } catch (SSLPeerUnverifiedException e) {
            return Principal.ANONYMOUS;
        }
    }

    private static Principal commonName(X509Certificate certificate) {
        try {
            for (Rdn part : new LdapName(certificate.getSubjectX500Principal().getName()).getRdns()) {
                if (part.getType().equalsIgnoreCase("CN")) {
                    return new Principal.Certificate(part.getValue().toString());
                }
            }
            return Principal.ANONYMOUS;
        } catch (InvalidNameException e) {
            throw new IllegalStateException("a certificate that was verified has a name that is none", e);
        }
    }
}
