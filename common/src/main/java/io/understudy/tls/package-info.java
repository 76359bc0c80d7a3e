/**
 * Certificates and keys from PEM files, for Netty and the JDK's HTTP client and server.
 *
 * <p>Files are read again when they change; every fault names the file. Nothing here prints a key.
 */
@NullMarked
package io.understudy.tls;

import org.jspecify.annotations.NullMarked;
