/** Certificates for tests, made by the JDK's own {@code keytool}. */
@NullMarked
package io.understudy.local.certificate;

import org.jspecify.annotations.NullMarked;
