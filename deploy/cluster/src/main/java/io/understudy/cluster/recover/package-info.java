/** Recovery from a lost quorum with the most recent data, keeping all old data. */
@NullMarked
package io.understudy.cluster.recover;

import org.jspecify.annotations.NullMarked;
