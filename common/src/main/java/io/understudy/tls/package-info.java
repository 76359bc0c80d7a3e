/**
 * Certificates and keys from PEM files into what Netty and the JDK's HTTP client need.
 *
 * <p>Reads files once, when asked for a context; every fault names the file. Nothing here prints a key.
 */
@NullMarked
package io.understudy.tls;

import org.jspecify.annotations.NullMarked;
