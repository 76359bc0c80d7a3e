/** Health checks by name, and the pages that show them, as etcd has its own. */
@NullMarked
package io.understudy.health;

import org.jspecify.annotations.NullMarked;
