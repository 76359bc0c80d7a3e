/** Goes from a cluster as it is to what is wanted of it: look, plan, take one step, see its effect, look again. */
@NullMarked
package io.understudy.cluster.run;

import org.jspecify.annotations.NullMarked;
