/** Compares the replica with its source in the background and rebuilds it on a difference. */
@NullMarked
package io.understudy.gateway.verify;

import org.jspecify.annotations.NullMarked;
