/** Observation of a cluster: what members report about themselves and each other. */
@NullMarked
package io.understudy.cluster.observe;

import org.jspecify.annotations.NullMarked;
