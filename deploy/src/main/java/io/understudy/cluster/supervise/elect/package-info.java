/** Several supervisors of one cluster, of which one acts: elected through the cluster itself, by a key on a lease. */
@NullMarked
package io.understudy.cluster.supervise.elect;

import org.jspecify.annotations.NullMarked;
