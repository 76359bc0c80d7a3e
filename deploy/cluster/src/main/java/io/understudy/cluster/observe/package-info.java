/** What the members of a cluster report about themselves and each other, at one time. */
@NullMarked
package io.understudy.cluster.observe;

import org.jspecify.annotations.NullMarked;
