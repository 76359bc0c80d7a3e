/** Reads from where they can be had: the replica when it is fresh enough and holds what is asked, else the source. */
@NullMarked
package io.understudy.gateway.read;

import org.jspecify.annotations.NullMarked;
