package io.understudy.gateway.caller;

import java.security.cert.X509Certificate;
import javax.naming.InvalidNameException;
import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** Who is at the other end of a connection. */
public final class Peer {

    private static final String COMMON_NAME = "CN";

    private Peer() {}

    /**
     * The common name of the certificate that was shown and verified, as etcd reads it: the last of several; who has none,
     * or an empty one, is nobody in particular.
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
        String name = "";
        try {
            for (Rdn part : new LdapName(certificate.getSubjectX500Principal().getName()).getRdns()) {
                Attribute attribute = part.toAttributes().get(COMMON_NAME);
                if (attribute != null && attribute.get() instanceof String text) {
                    name = text;
                }
            }
        } catch (InvalidNameException e) {
            throw new IllegalStateException("a certificate that was verified has a name that is none", e);
        } catch (NamingException e) {
            throw new IllegalStateException("a name in memory can't be read", e);
        }
        return name.isEmpty() ? Principal.ANONYMOUS : new Principal.Certificate(name);
    }
}
