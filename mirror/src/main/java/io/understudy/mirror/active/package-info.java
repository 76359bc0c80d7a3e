/**
 * Election of a mirror's active process by a lease in the target: {@link io.understudy.mirror.active.ActiveLease}. The
 * lease only decides which process tries. The checkpoint, which every transaction compares, fences a former active
 * process.
 */
@NullMarked
package io.understudy.mirror.active;

import org.jspecify.annotations.NullMarked;
