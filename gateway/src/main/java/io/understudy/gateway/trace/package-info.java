/**
 * Spans of calls, for OpenTelemetry: {@link io.understudy.gateway.trace.Tracing} records and exports them.
 * No other package uses that library.
 */
@NullMarked
package io.understudy.gateway.trace;

import org.jspecify.annotations.NullMarked;
