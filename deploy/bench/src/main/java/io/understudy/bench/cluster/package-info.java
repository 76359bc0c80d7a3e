/** The benchmark of reconfiguring a cluster: what writers notice of it. */
@NullMarked
package io.understudy.bench.cluster;

import org.jspecify.annotations.NullMarked;
