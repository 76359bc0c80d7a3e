package io.understudy.tls;

import java.security.cert.X509Certificate;
import javax.naming.InvalidNameException;
import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import org.jspecify.annotations.Nullable;

/** The name in a certificate that etcd takes for that of a user. */
public final class CommonName {

    private static final String COMMON_NAME = "CN";

    private CommonName() {}

    /** Returns the last common name, as in etcd. Empty if there is none, null if it is unreadable. */
    public static @Nullable String of(X509Certificate certificate) {
        @Nullable String name = "";
        try {
            for (Rdn part : new LdapName(certificate.getSubjectX500Principal().getName()).getRdns()) {
                Attribute attribute = part.toAttributes().get(COMMON_NAME);
                if (attribute != null) {
                    // Of a kind of text that RFC 2253 doesn't know it is bytes.
                    name = attribute.get() instanceof String text ? text : null;
                }
            }
        } catch (InvalidNameException e) {
            return null;
        } catch (NamingException e) {
            throw new IllegalStateException("cannot parse distinguished name", e);
        }
        return name;
    }
}
