/**
 * Copies the authorisation of a source: roles with their grants, users with their roles. The class {@link
 * io.understudy.mirror.auth.AuthCopy} compares and changes. A register in the target lists what the mirror copied
 * there; the rest of the target's authorisation is left alone.
 */
@NullMarked
package io.understudy.mirror.auth;

import org.jspecify.annotations.NullMarked;
