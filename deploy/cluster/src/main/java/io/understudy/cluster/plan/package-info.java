/** Steps from the observed to the desired state of a cluster, and their safety rules. */
@NullMarked
package io.understudy.cluster.plan;

import org.jspecify.annotations.NullMarked;
