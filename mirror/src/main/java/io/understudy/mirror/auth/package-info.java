/**
 * Copies what a source's authorisation holds: roles with their grants, users with their roles. {@link
 * io.understudy.mirror.auth.AuthCopy} compares and changes; what the mirror has brought to the target stands in a register
 * there, and nothing else of the target's authorisation is touched.
 */
@NullMarked
package io.understudy.mirror.auth;

import org.jspecify.annotations.NullMarked;
