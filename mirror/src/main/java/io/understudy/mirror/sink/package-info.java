/** The target interface of a mirror: {@link io.understudy.mirror.sink.Sink} and its failures. */
@NullMarked
package io.understudy.mirror.sink;

import org.jspecify.annotations.NullMarked;
