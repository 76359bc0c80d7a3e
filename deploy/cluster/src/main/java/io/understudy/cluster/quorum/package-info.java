/** How many members may fail: arithmetic only. */
@NullMarked
package io.understudy.cluster.quorum;

import org.jspecify.annotations.NullMarked;
