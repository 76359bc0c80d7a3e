/** What a supervisor measures. */
@NullMarked
package io.understudy.cluster.metrics;

import org.jspecify.annotations.NullMarked;
