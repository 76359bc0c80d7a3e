/**
 * The core cluster: real etcd, reconfigured one safe step at a time.
 *
 * <p>Reading order: {@code observe} reads the state of the members; {@code quorum} is the arithmetic; {@code
 * membership} has the requests that change a cluster, and what etcd rejects; {@code machine} runs members; {@code plan}
 * derives steps from observed and desired state, as pure functions, and {@code run} executes them.
 */
@NullMarked
package io.understudy.cluster;

import org.jspecify.annotations.NullMarked;
