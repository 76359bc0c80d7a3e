/**
 * A mirror process: one or several mirrors, each relaying a cluster's commits to one target, and what they show.
 *
 * <p>{@link io.understudy.mirror.MirrorProcess} puts together what the packages below offer.
 */
@NullMarked
package io.understudy.mirror;

import org.jspecify.annotations.NullMarked;
