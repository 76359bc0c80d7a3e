/** All metrics of the gateway, in one place. */
@NullMarked
package io.understudy.gateway.metrics;

import org.jspecify.annotations.NullMarked;
