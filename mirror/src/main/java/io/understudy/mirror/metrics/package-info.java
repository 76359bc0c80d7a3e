/** What a process of mirrors measures. */
@NullMarked
package io.understudy.mirror.metrics;

import org.jspecify.annotations.NullMarked;
