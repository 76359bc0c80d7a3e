/**
 * Leases of the source's keys in the target. {@link io.understudy.mirror.lease.TargetLeases} is called before each put;
 * {@link io.understudy.mirror.lease.LeasedSink} keeps leases alive while a mirror writes, and restores keys of expired
 * leases.
 */
@NullMarked
package io.understudy.mirror.lease;

import org.jspecify.annotations.NullMarked;
