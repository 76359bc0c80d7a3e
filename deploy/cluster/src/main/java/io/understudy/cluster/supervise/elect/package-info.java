/**
 * The right to change a cluster, as leased keys in the cluster itself. The elected supervisor has it, unless a command
 * has it or supervisors are paused.
 */
@NullMarked
package io.understudy.cluster.supervise.elect;

import org.jspecify.annotations.NullMarked;
