/** The HTTP pages of a mirror process: status, metrics, liveness and readiness. */
@NullMarked
package io.understudy.mirror.status;

import org.jspecify.annotations.NullMarked;
