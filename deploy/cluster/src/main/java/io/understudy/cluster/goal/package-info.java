/** Goals for a cluster, each of which returns the next step from its current state. */
@NullMarked
package io.understudy.cluster.goal;

import org.jspecify.annotations.NullMarked;
