/**
 * What a mirror writes to: the {@link io.understudy.mirror.sink.Sink}, and how it tells about trouble.
 */
@NullMarked
package io.understudy.mirror.sink;

import org.jspecify.annotations.NullMarked;
