/** The requests that change the member list, and what etcd rejects. */
@NullMarked
package io.understudy.cluster.membership;

import org.jspecify.annotations.NullMarked;
