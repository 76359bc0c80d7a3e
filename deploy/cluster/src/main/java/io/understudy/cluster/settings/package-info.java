/** The declared settings of a cluster: endpoints, machines, shape and snapshots. */
@NullMarked
package io.understudy.cluster.settings;

import org.jspecify.annotations.NullMarked;
