/** Certificates of servers: for tests, self-signed, or given. */
@NullMarked
package io.understudy.local.certificate;

import org.jspecify.annotations.NullMarked;
