package io.understudy.local.certificate;

import java.nio.file.Path;
import javax.net.ssl.SSLContext;

/**
 * How a server, its peers and its clients know each other: all by certificates of one authority.
 *
 * @param authority PEM file with its certificate
 * @param certificate PEM file that the server shows, to peers also as their client
 * @param key its private key, PKCS #8
 * @param clients for clients of the server; shows a certificate of the authority
 */
public record ServerTls(Path authority, Path certificate, Path key, SSLContext clients) {}
