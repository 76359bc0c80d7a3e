/** Health checks by name, rendered as etcd renders its own. */
@NullMarked
package io.understudy.gateway.health;

import org.jspecify.annotations.NullMarked;
