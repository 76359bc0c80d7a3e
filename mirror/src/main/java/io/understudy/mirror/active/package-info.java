/**
 * Several processes of one mirror, of which one is active: {@link io.understudy.mirror.active.ActiveLease} decides
 * which, by a lease in the target. The lease only decides which process tries. The fence against a former active
 * process is the checkpoint, which every transaction compares.
 */
@NullMarked
package io.understudy.mirror.active;

import org.jspecify.annotations.NullMarked;
