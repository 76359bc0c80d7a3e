/**
 * The history of a mirror's checkpoint, kept by the target itself: which revision of the source the target was at, at each
 * of its own revisions.
 */
@NullMarked
package io.understudy.mirror.revisions;

import org.jspecify.annotations.NullMarked;
