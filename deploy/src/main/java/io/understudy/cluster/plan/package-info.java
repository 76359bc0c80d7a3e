/** From what is observed to what is wanted: which steps, whether each is safe now, and doing them one by one. */
@NullMarked
package io.understudy.cluster.plan;

import org.jspecify.annotations.NullMarked;
