/** Metrics of a mirror process. */
@NullMarked
package io.understudy.mirror.metrics;

import org.jspecify.annotations.NullMarked;
