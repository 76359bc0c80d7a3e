/** Serves reads from the replica if it meets their requirements, otherwise from the source. */
@NullMarked
package io.understudy.gateway.read;

import org.jspecify.annotations.NullMarked;
