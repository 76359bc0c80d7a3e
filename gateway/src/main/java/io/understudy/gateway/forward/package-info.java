/**
 * Forwards requests that a replica cannot answer to the source: writes and everything else that needs consensus. They are
 * forwarded byte for byte, or rejected as by a learner.
 *
 * <p>A forwarded call is retried only if the request provably never left this process. Every other failure is returned to
 * the client as etcd reports it.
 */
@NullMarked
package io.understudy.gateway.forward;

import org.jspecify.annotations.NullMarked;
