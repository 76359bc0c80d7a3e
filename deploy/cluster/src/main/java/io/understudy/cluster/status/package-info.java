/** The state of a cluster, as text and as JSON. */
@NullMarked
package io.understudy.cluster.status;

import org.jspecify.annotations.NullMarked;
