/** The protocol-independent context of a request: caller identity, connection, deadline and freshness. */
@NullMarked
package io.understudy.gateway.caller;

import org.jspecify.annotations.NullMarked;
