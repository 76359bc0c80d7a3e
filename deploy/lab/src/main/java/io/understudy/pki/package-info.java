/**
 * A certificate authority for a lab or a small cluster. {@link io.understudy.pki.Authority} signs certificates, {@link
 * io.understudy.pki.PkiDirectory} keeps them as PEM files. All keys use the curve P-256.
 */
@NullMarked
package io.understudy.pki;

import org.jspecify.annotations.NullMarked;
