package io.understudy.tls;

/** What a listener wants to know of its clients. */
public enum ClientCertificates {
    /** They are not asked for a certificate. */
    NONE,
    /** They are asked, and may show none; one that can't be verified ends the handshake. */
    OPTIONAL,
    /** Who shows none that can be verified can't connect. */
    REQUIRED
}
