/**
 * Several processes of one mirror, of which one is active: {@link io.understudy.mirror.active.ActiveLease} decides which,
 * by a lease in the target. It only decides who tries; what keeps a process from writing that wrongly takes itself for the
 * active one is the checkpoint, which every transaction compares.
 */
@NullMarked
package io.understudy.mirror.active;

import org.jspecify.annotations.NullMarked;
