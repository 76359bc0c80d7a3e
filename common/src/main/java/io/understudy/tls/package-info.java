/**
 * Certificates and keys from PEM files into what Netty, the JDK's HTTP client and its HTTP server need, for both sides of a
 * connection.
 *
 * <p>Files are read again when they change; every fault names the file. Nothing here prints a key.
 */
@NullMarked
package io.understudy.tls;

import org.jspecify.annotations.NullMarked;
