package io.understudy.gateway.caller;

import io.understudy.tls.CommonName;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** The remote end of a connection. */
public final class Peer {

    private Peer() {}

    /**
     * Returns the common name of the verified certificate, the last of several as in etcd. A missing or empty name is
     * anonymous; an unreadable one matches no user.
     *
     * @param session null for plain text
     */
    public static Principal of(@Nullable SSLSession session) {
        if (session == null) {
            return Principal.ANONYMOUS;
        }
        try {
            return session.getPeerCertificates()[0] instanceof X509Certificate certificate
                    ? named(certificate)
                    : Principal.ANONYMOUS;
        } catch (SSLPeerUnverifiedException e) {
            return Principal.ANONYMOUS;
        }
    }

    private static Principal named(X509Certificate certificate) {
        String name = CommonName.of(certificate);
        if (name == null) {
            return Principal.Certificate.UNREADABLE;
        }
        return name.isEmpty() ? Principal.ANONYMOUS : new Principal.Certificate(name);
    }
}
