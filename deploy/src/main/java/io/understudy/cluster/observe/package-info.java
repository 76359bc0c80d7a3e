/** What the members of a cluster say of themselves and of each other, at one time. */
@NullMarked
package io.understudy.cluster.observe;

import org.jspecify.annotations.NullMarked;
