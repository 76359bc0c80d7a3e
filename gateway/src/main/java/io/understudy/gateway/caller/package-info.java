/** The context of a request, independent of its protocol: caller identity, connection, deadline and required freshness. */
@NullMarked
package io.understudy.gateway.caller;

import org.jspecify.annotations.NullMarked;
