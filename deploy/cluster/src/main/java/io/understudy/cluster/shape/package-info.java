/** The declared shape of a cluster, and the limits of automatic changes. */
@NullMarked
package io.understudy.cluster.shape;

import org.jspecify.annotations.NullMarked;
