/** REST for people, scripts and browsers: keys as resources, at a port of its own. */
@NullMarked
package io.understudy.gateway.rest;

import org.jspecify.annotations.NullMarked;
