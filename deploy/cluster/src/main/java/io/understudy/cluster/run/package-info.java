/** Brings a cluster to its desired state by steps with observed effects. */
@NullMarked
package io.understudy.cluster.run;

import org.jspecify.annotations.NullMarked;
