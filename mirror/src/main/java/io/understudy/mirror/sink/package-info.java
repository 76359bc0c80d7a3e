/** What a mirror writes to: the {@link io.understudy.mirror.sink.Sink}, and its failures. */
@NullMarked
package io.understudy.mirror.sink;

import org.jspecify.annotations.NullMarked;
