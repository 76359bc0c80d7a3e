package io.understudy.pki;

import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Instant;

/** A certificate and its private key. */
public record Issued(X509Certificate certificate, PrivateKey key) {

    /** The subject of the certificate, by RFC 2253; may be empty. */
    public String subject() {
        return certificate.getSubjectX500Principal().getName();
    }

    public Instant expires() {
        return certificate.getNotAfter().toInstant();
    }

    /** Never the key. */
    @Override
    public String toString() {
        return "'" + subject() + "', serial " + certificate.getSerialNumber();
    }
}
