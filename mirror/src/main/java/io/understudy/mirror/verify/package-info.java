/**
 * Whether the target is what its checkpoint says: both sides compared at one revision of the source, while writes go on.
 *
 * <p>One read of the checkpoint key tells that the target at its revision T is the source at revision R. Both are then read
 * pinned there, in key order, and compared key by key.
 */
@NullMarked
package io.understudy.mirror.verify;

import org.jspecify.annotations.NullMarked;
