/** Metrics of a supervisor. */
@NullMarked
package io.understudy.cluster.metrics;

import org.jspecify.annotations.NullMarked;
