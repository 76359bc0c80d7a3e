package io.understudy.local.certificate;

import java.nio.file.Path;
import javax.net.ssl.SSLContext;

/**
 * Mutual TLS of a server, its peers and its clients by one certificate authority.
 *
 * @param authority PEM file with its certificate
 * @param certificate PEM file of the server's certificate, also its client certificate toward peers
 * @param key its private key, PKCS #8
 * @param clients for clients of the server, with a certificate of the authority
 */
public record ServerTls(Path authority, Path certificate, Path key, SSLContext clients) {}
