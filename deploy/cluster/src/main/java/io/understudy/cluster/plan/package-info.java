/** Steps from the observed to the desired state of a cluster, and the rules by which each is safe. */
@NullMarked
package io.understudy.cluster.plan;

import org.jspecify.annotations.NullMarked;
