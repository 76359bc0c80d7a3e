/**
 * The core cluster: real etcd, reconfigured one safe step at a time.
 *
 * <p>Reading order: {@code observe} is what the members say of themselves and of each other; {@code quorum} the arithmetic;
 * {@code membership} the requests that change a cluster, and what etcd refuses; {@code machine} where members run; {@code
 * plan} what leads from what is observed to what is wanted, as pure functions, and the loop that goes there step by step.
 */
@NullMarked
package io.understudy.cluster;

import org.jspecify.annotations.NullMarked;
