/** Calls on a cluster that somebody waits for. */
@NullMarked
package io.understudy.mirror.call;

import org.jspecify.annotations.NullMarked;
