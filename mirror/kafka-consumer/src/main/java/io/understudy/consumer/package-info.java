/** Reads a mirror's topics: {@link io.understudy.consumer.MirrorConsumer}. */
@NullMarked
package io.understudy.consumer;

import org.jspecify.annotations.NullMarked;
