/**
 * Forwards requests that a replica cannot serve to the source, byte for byte. These are writes and everything else that
 * needs consensus. By setting, they are rejected as by a learner.
 *
 * <p>A forwarded call is retried only if the request provably never left this process. Every other failure is returned
 * to the client as etcd reports it.
 */
@NullMarked
package io.understudy.gateway.forward;

import org.jspecify.annotations.NullMarked;
