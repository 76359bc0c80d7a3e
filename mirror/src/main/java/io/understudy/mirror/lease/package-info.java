/**
 * Leases of the source's keys in the target. Before each put, {@link io.understudy.mirror.lease.TargetLeases} is
 * called. While a mirror writes, {@link io.understudy.mirror.lease.KeptLeases} keeps leases alive, and restores keys of
 * expired leases.
 */
@NullMarked
package io.understudy.mirror.lease;

import org.jspecify.annotations.NullMarked;
