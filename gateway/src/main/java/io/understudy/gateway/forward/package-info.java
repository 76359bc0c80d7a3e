/**
 * What a replica can't answer goes to the source: writes and everything else that takes part in consensus, passed on as
 * they came, byte for byte, or refused as a learner of etcd refuses them.
 *
 * <p>A forwarded call is repeated only where the request provably never left this process; whatever else happens to it is
 * told to the client as etcd tells it, and left to the client to judge.
 */
@NullMarked
package io.understudy.gateway.forward;

import org.jspecify.annotations.NullMarked;
