/** Blocking calls on a cluster. */
@NullMarked
package io.understudy.mirror.call;

import org.jspecify.annotations.NullMarked;
