/** A gateway: start it, ask for its ports, close it. */
@NullMarked
package io.understudy.gateway;

import org.jspecify.annotations.NullMarked;
