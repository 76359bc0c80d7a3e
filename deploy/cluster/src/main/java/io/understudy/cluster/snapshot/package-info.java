/** Copies of the cluster's data in files, and new clusters made from them. */
@NullMarked
package io.understudy.cluster.snapshot;

import org.jspecify.annotations.NullMarked;
