package io.understudy.tls;

/** Which certificates a listener requires of its clients. */
public enum ClientCertificates {
    /** No certificate is requested. */
    NONE,
    /** A certificate is requested, and may be missing. One that can't be verified ends the handshake. */
    OPTIONAL,
    /** Only clients with a certificate that can be verified connect. */
    REQUIRED
}
