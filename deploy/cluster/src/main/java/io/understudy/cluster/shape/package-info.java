/** What a cluster is to look like, as its operator declares it, and the limits within which that is brought about. */
@NullMarked
package io.understudy.cluster.shape;

import org.jspecify.annotations.NullMarked;
