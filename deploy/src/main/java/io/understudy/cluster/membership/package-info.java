/** The requests that change who is a member, and what etcd refuses. */
@NullMarked
package io.understudy.cluster.membership;

import org.jspecify.annotations.NullMarked;
