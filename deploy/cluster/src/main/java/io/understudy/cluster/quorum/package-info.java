/** The arithmetic of quorums. */
@NullMarked
package io.understudy.cluster.quorum;

import org.jspecify.annotations.NullMarked;
