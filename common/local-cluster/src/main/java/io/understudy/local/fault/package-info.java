/**
 * Faults of the network, made inside this process.
 *
 * <p>A {@link io.understudy.local.fault.FaultProxy} forwards bytes between two parties, and delays, throttles, cuts,
 * swallows or half-closes them on demand. {@link io.understudy.local.fault.Faults} are its switches, for all
 * connections or for those of one party only; {@link io.understudy.local.fault.SocketOwners} distinguishes parties.
 */
@NullMarked
package io.understudy.local.fault;

import org.jspecify.annotations.NullMarked;
