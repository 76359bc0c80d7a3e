/** The dashboard: current and recent state of this gateway, its source, and other processes. */
@NullMarked
package io.understudy.gateway.dashboard;

import org.jspecify.annotations.NullMarked;
