/**
 * Runs a mirror: a thread passes a feed's events to a sink, one by one.
 *
 * <p>{@link io.understudy.mirror.pipeline.Pipeline} is the thread, {@link io.understudy.mirror.pipeline.MirrorState}
 * its state, {@code Lag} its lag.
 */
@NullMarked
package io.understudy.mirror.pipeline;

import org.jspecify.annotations.NullMarked;
