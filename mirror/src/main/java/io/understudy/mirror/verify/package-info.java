/**
 * Verifies a target: compares both sides at one source revision while writes continue.
 *
 * <p>One read of the checkpoint key maps the target's revision T to the source's revision R. Both are then read pinned
 * there, in key order, and compared key by key.
 */
@NullMarked
package io.understudy.mirror.verify;

import org.jspecify.annotations.NullMarked;
