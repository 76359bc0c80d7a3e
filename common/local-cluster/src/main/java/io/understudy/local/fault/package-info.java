/**
 * Faults of the network, made inside this process.
 *
 * <p>A {@link io.understudy.local.fault.FaultProxy} stands between two parties and passes their bytes on until told to
 * delay, throttle, cut, swallow or half-close them. {@link io.understudy.local.fault.Faults} are its switches, for all
 * connections or for those of one party only; {@link io.understudy.local.fault.SocketOwners} tells parties apart.
 */
@NullMarked
package io.understudy.local.fault;

import org.jspecify.annotations.NullMarked;
