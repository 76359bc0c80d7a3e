/** Users and roles of processes. */
@NullMarked
package io.understudy.cluster.access;

import org.jspecify.annotations.NullMarked;
