/** Status of the gateway as a non-voting member of its cluster that holds all of the data. */
@NullMarked
package io.understudy.gateway.member;

import org.jspecify.annotations.NullMarked;
