/** etcd's permissions, enforced on what the gateway answers itself. */
@NullMarked
package io.understudy.gateway.permission;

import org.jspecify.annotations.NullMarked;
