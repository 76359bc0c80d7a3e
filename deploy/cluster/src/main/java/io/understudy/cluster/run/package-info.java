/** Brings a cluster to its desired state: observe, plan, take one step, await its effect, and again. */
@NullMarked
package io.understudy.cluster.run;

import org.jspecify.annotations.NullMarked;
