/**
 * A supervisor holds a cluster to its declared shape. Package {@code rule} decides, as pure functions. Package {@code
 * elect} ensures that one of several supervisors acts. The class {@link io.understudy.cluster.supervise.Supervisor}
 * observes, decides and acts, one step at a time. The class {@code StateServer} shows it.
 */
@NullMarked
package io.understudy.cluster.supervise;

import org.jspecify.annotations.NullMarked;
