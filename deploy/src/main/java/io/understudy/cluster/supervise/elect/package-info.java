/**
 * Who may change a cluster, agreed on through the cluster itself by keys on leases: of several supervisors the one that was
 * elected, and none while a command has its turn or somebody paused them.
 */
@NullMarked
package io.understudy.cluster.supervise.elect;

import org.jspecify.annotations.NullMarked;
