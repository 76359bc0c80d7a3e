/** What can be wanted of a cluster, each as the next step towards it from how the cluster is. */
@NullMarked
package io.understudy.cluster.goal;

import org.jspecify.annotations.NullMarked;
