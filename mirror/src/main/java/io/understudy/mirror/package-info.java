/**
 * A mirror process: mirrors, each relaying a cluster's commits to one target, and their status.
 *
 * <p>{@link io.understudy.mirror.MirrorProcess} assembles the packages below.
 */
@NullMarked
package io.understudy.mirror;

import org.jspecify.annotations.NullMarked;
