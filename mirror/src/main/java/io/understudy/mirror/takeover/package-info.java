/**
 * Moving the primary role of a mirrored range.
 *
 * <p>{@link io.understudy.mirror.takeover.TakeOver} connects the clusters. {@link io.understudy.mirror.takeover.Switchover}
 * moves the role as planned, {@link io.understudy.mirror.takeover.Failover} without the primary, which
 * {@link io.understudy.mirror.takeover.Rejoin} makes a copy. All make single requests by {@code TakeOverCalls}, so that tests can
 * cut each of them.
 */
@NullMarked
package io.understudy.mirror.takeover;

import org.jspecify.annotations.NullMarked;
