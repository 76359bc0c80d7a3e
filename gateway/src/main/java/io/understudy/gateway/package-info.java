/** A gateway: start it, read its ports, close it. */
@NullMarked
package io.understudy.gateway;

import org.jspecify.annotations.NullMarked;
