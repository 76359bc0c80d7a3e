/**
 * One mirror at work: a thread that takes a feed's events to a sink, one at a time, and what it shows of itself.
 *
 * <p>{@link io.understudy.mirror.pipeline.Pipeline} is the thread, {@link io.understudy.mirror.pipeline.MirrorState}
 * its state, {@code Lag} its lag.
 */
@NullMarked
package io.understudy.mirror.pipeline;

import org.jspecify.annotations.NullMarked;
