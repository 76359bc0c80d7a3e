/**
 * Spans of calls, for OpenTelemetry: {@link io.understudy.gateway.trace.Tracing} makes them, and hands them to a collector.
 * No other package uses that library.
 */
@NullMarked
package io.understudy.gateway.trace;

import org.jspecify.annotations.NullMarked;
