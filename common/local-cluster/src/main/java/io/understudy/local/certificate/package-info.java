/** Certificates of servers: for tests, made by the JDK's own {@code keytool}, or given. */
@NullMarked
package io.understudy.local.certificate;

import org.jspecify.annotations.NullMarked;
