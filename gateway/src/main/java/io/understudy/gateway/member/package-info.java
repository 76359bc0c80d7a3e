/** Status of the gateway as a non-voting member that holds all of the data. */
@NullMarked
package io.understudy.gateway.member;

import org.jspecify.annotations.NullMarked;
