/** How a cluster stands, for people and for programs to read. */
@NullMarked
package io.understudy.cluster.status;

import org.jspecify.annotations.NullMarked;
