package io.understudy.tls;

import java.security.cert.X509Certificate;
import javax.naming.InvalidNameException;
import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;

/** The name in a certificate that etcd takes for that of a user. */
public final class CommonName {

    private static final String COMMON_NAME = "CN";

    private CommonName() {}

    /** As etcd reads it: the last of several; empty if there is none. */
    public static String of(X509Certificate certificate) {
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
        return name;
    }
}
