/** What the gateway says of itself, as a member of its cluster that holds all of the data and has no vote. */
@NullMarked
package io.understudy.gateway.member;

import org.jspecify.annotations.NullMarked;
