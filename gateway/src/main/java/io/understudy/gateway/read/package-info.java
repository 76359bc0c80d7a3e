/** Serves reads from the replica if it is fresh enough and has the keys, otherwise from the source. */
@NullMarked
package io.understudy.gateway.read;

import org.jspecify.annotations.NullMarked;
