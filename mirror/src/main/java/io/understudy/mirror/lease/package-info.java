/**
 * What becomes in the target of the leases that the source's keys have. {@link io.understudy.mirror.lease.TargetLeases} is
 * asked before each put; {@link io.understudy.mirror.lease.LeasedSink} keeps leases alive while a mirror writes, and puts
 * back what went with leases that ran out.
 */
@NullMarked
package io.understudy.mirror.lease;

import org.jspecify.annotations.NullMarked;
