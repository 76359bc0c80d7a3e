/**
 * A certificate authority for a lab or a small cluster. Certificates are signed by {@link io.understudy.pki.PkiDirectory.Authority}
 * and kept as PEM files by {@link io.understudy.pki.PkiDirectory}. All keys use the curve P-256.
 */
@NullMarked
package io.understudy.pki;

import org.jspecify.annotations.NullMarked;
