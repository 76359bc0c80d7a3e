/** The machines of members, which start and stop them. */
@NullMarked
package io.understudy.cluster.machine;

import org.jspecify.annotations.NullMarked;
