/**
 * A supervisor holds a cluster to its declared shape. {@code rule} decides, as pure functions; {@code elect} sees to it
 * that one of several supervisors acts; {@link io.understudy.cluster.supervise.Supervisor} looks, decides and acts, one
 * step at a time; {@code StateServer} shows it.
 */
@NullMarked
package io.understudy.cluster.supervise;

import org.jspecify.annotations.NullMarked;
