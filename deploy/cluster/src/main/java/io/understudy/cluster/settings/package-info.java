/** What the operator declares of a cluster: how to reach it, where its members run, its shape, its snapshots. */
@NullMarked
package io.understudy.cluster.settings;

import org.jspecify.annotations.NullMarked;
