/**
 * Copies what a source's authorisation holds: roles with their grants, users with their roles. {@link
 * io.understudy.mirror.auth.AuthCopy} compares and changes; a register in the target lists what the mirror copied
 * there, and the rest of the target's authorisation is left alone.
 */
@NullMarked
package io.understudy.mirror.auth;

import org.jspecify.annotations.NullMarked;
